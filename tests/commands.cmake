# Targets behind the workflow presets format, bench, fuzz, cross and ci-full: one command each.
set(tests ${CMAKE_CURRENT_LIST_DIR})
add_custom_target(format WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM
  COMMAND sh -c "git ls-files -co --exclude-standard '*.h' '*.cc' | xargs clang-format -i")
add_custom_target(cross COMMAND ${tests}/cross/cross.py ${CMAKE_SOURCE_DIR}/build/cross USES_TERMINAL VERBATIM)
add_custom_target(ci-full COMMAND ${tests}/ci_full.sh USES_TERMINAL VERBATIM)
if(TARGET takt_bench)
  add_custom_target(bench COMMAND takt_bench USES_TERMINAL VERBATIM)
endif()
if(TAKT_BUILD_TESTS)
  add_custom_target(fuzz COMMAND ${tests}/fuzz/fuzz.sh ${CMAKE_BINARY_DIR} USES_TERMINAL VERBATIM)
  add_dependencies(fuzz converter_test engine_test)
endif()
