# Install rules: static libraries, engine and port headers, the generated schema headers, the CLI, find_package(Takt).

include(CMakePackageConfigHelpers)

target_compile_features(takt_engine INTERFACE cxx_std_20)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Takt)
# Targets whose objects or options stand behind takt::engine and takt::port_reference.
install(TARGETS takt_options takt_embedded_options takt_schema takt_engine takt_port_reference EXPORT TaktTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
target_include_directories(takt_engine INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/takt>)
target_include_directories(takt_port_reference INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/takt>)
install(EXPORT TaktTargets NAMESPACE takt:: DESTINATION ${package_dir})
install(DIRECTORY engine ports DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/takt FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
  PATTERN "cortex_m" EXCLUDE)
install(FILES schema/op_table.inc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/takt/schema)
if(TARGET takt)
  target_include_directories(takt_port_posix INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/takt>)
  install(TARGETS takt_port_posix EXPORT TaktTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS takt EXPORT TaktTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET takt_port_xnnpack)  # An export of its own, which the package leaves out where XNNPACK is missing.
  target_include_directories(takt_port_xnnpack INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/takt>)
  install(TARGETS takt_port_xnnpack EXPORT TaktXnnpackTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT TaktXnnpackTargets NAMESPACE takt:: DESTINATION ${package_dir})
  install(FILES schema/cmake/FindXNNPACK.cmake DESTINATION ${package_dir})
endif()
configure_package_config_file(schema/cmake/TaktConfig.cmake.in ${CMAKE_BINARY_DIR}/TaktConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TaktConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TaktConfig.cmake ${CMAKE_BINARY_DIR}/TaktConfigVersion.cmake
  schema/cmake/TaktLatencyTest.cmake DESTINATION ${package_dir})
