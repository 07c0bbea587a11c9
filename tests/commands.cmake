# Targets behind the workflow presets format, bench, fuzz, cross and ci-full: one command each.
set(tests ${CMAKE_CURRENT_LIST_DIR})
add_custom_target(format WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM
  COMMAND sh -c "git ls-files -co --exclude-standard '*.h' '*.cc' | xargs clang-format -i")
add_custom_target(cross COMMAND ${tests}/cross/cross.py ${CMAKE_SOURCE_DIR}/build/cross USES_TERMINAL VERBATIM)
add_custom_target(stack COMMAND ${tests}/checks/stack.py ${CMAKE_BINARY_DIR} USES_TERMINAL VERBATIM)
foreach(library engine port_reference npu_model port_npu_emu tile_kernels port_posix port_xnnpack)
  if(TARGET takt_${library})
    add_dependencies(stack takt_${library})
  endif()
endforeach()
if(TAKT_BUILD_TESTS)
  add_custom_target(memcheck COMMAND ${tests}/checks/memcheck.sh ${CMAKE_BINARY_DIR} USES_TERMINAL VERBATIM
    DEPENDS engine_test c_api_test plan_fuzzer)
endif()
add_custom_target(ci-full COMMAND ${tests}/ci_full.sh USES_TERMINAL VERBATIM)
if(TARGET takt_bench)
  add_custom_target(bench COMMAND takt_bench USES_TERMINAL VERBATIM)
endif()
if(TAKT_BUILD_TESTS)
  get_property(fuzzers GLOBAL PROPERTY TAKT_FUZZERS)
  if(TAKT_FUZZ)
    add_custom_target(fuzz COMMAND ${tests}/fuzz/fuzz.sh ${CMAKE_BINARY_DIR} DEPENDS ${fuzzers} USES_TERMINAL VERBATIM)
  else()  # Of a build with -fprofile-instr-generate.
    add_custom_target(fuzz-coverage COMMAND ${tests}/fuzz/coverage.py ${CMAKE_BINARY_DIR} DEPENDS ${fuzzers}
      USES_TERMINAL VERBATIM)
  endif()
endif()
