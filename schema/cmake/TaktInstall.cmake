# Install rules: static libraries, engine and port headers, the plan's generated header, the CLI, documents, find_package(Takt).

include(CMakePackageConfigHelpers)

target_compile_features(takt_engine INTERFACE cxx_std_20)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Takt)

# takt_install_targets(EXPORT name target ...): static libraries for find_package(Takt).
function(takt_install_targets)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "EXPORT" "")
  foreach(target IN LISTS ARG_UNPARSED_ARGUMENTS)
    target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/takt>)
  endforeach()
  install(TARGETS ${ARG_UNPARSED_ARGUMENTS} EXPORT ${ARG_EXPORT} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# takt_install_port(port finder): an export of its own, which the package leaves out where the library behind it is missing.
function(takt_install_port port finder)
  takt_install_targets(EXPORT Takt_${port} takt_${port})
  install(EXPORT Takt_${port} NAMESPACE takt:: DESTINATION ${package_dir})
  install(FILES schema/cmake/Find${finder}.cmake DESTINATION ${package_dir})
endfunction()

# Targets whose objects or options stand behind the ports come first.
takt_install_targets(EXPORT TaktTargets takt_options takt_embedded_options takt_schema takt_engine takt_port_reference takt_port_null)
install(DIRECTORY engine ports DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/takt FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
  PATTERN "cortex_m" EXCLUDE)
install(FILES schema/op_table.inc schema/npu_isa.inc ${TAKT_GENERATED_DIR}/schema/plan_generated.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/takt/schema)
if(TARGET takt)
  takt_install_targets(EXPORT TaktTargets takt_port_posix takt_tile_kernels takt_npu_model takt_port_npu_emu)
  takt_install_port(posix_ed25519 Sodium)
  install(TARGETS takt EXPORT TaktTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET takt_port_xnnpack)
  takt_install_port(port_xnnpack XNNPACK)
endif()
install(EXPORT TaktTargets NAMESPACE takt:: DESTINATION ${package_dir})
# The READMEs with the folders that their links expect.
file(GLOB documents RELATIVE ${CMAKE_SOURCE_DIR} LICENSE *.md engine/*.md schema/*.md ports/*.md ports/*/*.md converter/*.md
  converter/*/*.md tests/*.md tests/latency/*.md samples/*.md samples/*/*.md)
foreach(document IN LISTS documents)
  cmake_path(GET document PARENT_PATH folder)
  install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
configure_package_config_file(schema/cmake/TaktConfig.cmake.in ${CMAKE_BINARY_DIR}/TaktConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TaktConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TaktConfig.cmake ${CMAKE_BINARY_DIR}/TaktConfigVersion.cmake
  schema/cmake/TaktLatencyTest.cmake DESTINATION ${package_dir})
