# takt_add_latency_test(NAME name MODEL file | PLAN file [TARGET target] BASELINE file [OPTIONS option ...])
# An example is in tests/latency/README.md.
#
# Adds the ctest latency.NAME. It fails if the emulated NPU's cycles or the bytes of plan and arenas differ at all from the
# baseline, or the host's instructions by more than 0.5 %; wall time only advises. A baseline that has instructions wants
# valgrind and the build (compiler and flags) that it was made with: without them the test is skipped, if nothing else
# failed. A failure names the steps that changed, by how much and why. JUnit XML and Markdown go to NAME.xml and NAME.md in
# the current binary folder.
#   TARGET    as of takt convert; a PLAN has its own
#   OPTIONS   further options of takt convert: --numerics tflite, --set array.width=4
# A MODEL or PLAN that the build makes is the output of a custom command above, in the same folder.
# The target bless_latency.NAME writes the baseline anew, bless_latency those of all tests; both want the reason in the
# environment: TAKT_REASON='why' cmake --build BUILD --target bless_latency
include_guard(GLOBAL)

function(takt_add_latency_test)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "NAME;MODEL;PLAN;TARGET;BASELINE" "OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_NAME OR NOT ARG_BASELINE OR (NOT ARG_MODEL AND NOT ARG_PLAN) OR (ARG_MODEL AND ARG_PLAN)
     OR (ARG_PLAN AND ARG_TARGET))
    message(FATAL_ERROR "takt_add_latency_test wants NAME, BASELINE and either MODEL [TARGET] or PLAN; got: ${ARGN}")
  endif()
  if(TARGET takt)
    set(takt takt)
  elseif(TARGET takt::takt)
    set(takt takt::takt)
  else()
    message(FATAL_ERROR "takt_add_latency_test needs the program takt, and this package was built without the converter")
  endif()
  set(subject ${ARG_MODEL}${ARG_PLAN})
  cmake_path(ABSOLUTE_PATH subject)
  get_source_file_property(generated ${subject} GENERATED)
  if(NOT EXISTS ${subject} AND NOT generated)
    message(FATAL_ERROR "takt_add_latency_test(NAME ${ARG_NAME}): ${subject} does not exist; correct the path, or put the "
      "add_custom_command that makes it above, in this folder")
  endif()
  cmake_path(ABSOLUTE_PATH ARG_BASELINE)
  set(options ${ARG_OPTIONS})
  if(ARG_TARGET)
    list(PREPEND options --target ${ARG_TARGET})
  endif()
  add_test(NAME latency.${ARG_NAME} COMMAND ${takt} bench ${subject} ${options} --against ${ARG_BASELINE}
    --junit ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.xml --markdown ${CMAKE_CURRENT_BINARY_DIR}/${ARG_NAME}.md)
  set_tests_properties(latency.${ARG_NAME} PROPERTIES SKIP_REGULAR_EXPRESSION "instructions are not compared")
  add_custom_target(bless_latency.${ARG_NAME} COMMAND ${takt} baseline update ${ARG_BASELINE} ${subject} ${options}
    DEPENDS ${subject} USES_TERMINAL VERBATIM)
  if(NOT TARGET bless_latency)
    add_custom_target(bless_latency)
  endif()
  add_dependencies(bless_latency bless_latency.${ARG_NAME})
endfunction()
