# Read by CMake right after project(Takt): settings that need the compiler to be known, and the targets of this port.
set(CMAKE_CXX_COMPILE_OPTIONS_PIC "")  # Linked at fixed addresses.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE "")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE MinSizeRel)
endif()

# At the end of the top CMakeLists.txt; deferred code can't add folders, so their CMakeLists.txt are included.
function(takt_add_cortex_m)
  include(${CMAKE_SOURCE_DIR}/ports/cortex_m/CMakeLists.txt)
  if(TAKT_BUILD_SAMPLES)
    include(${CMAKE_SOURCE_DIR}/samples/bare_metal/CMakeLists.txt)
  endif()
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL takt_add_cortex_m)
