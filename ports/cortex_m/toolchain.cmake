# Bare-metal Arm Cortex-M with GCC and newlib: cmake --toolchain ports/cortex_m/toolchain.cmake -DTAKT_CORTEX_M=m4|m55
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAKT_CORTEX_M)

set(TAKT_CORTEX_M m4 CACHE STRING "Core to build for: m4 (MPS2 AN386) or m55 (MPS3 AN547)")
if(TAKT_CORTEX_M STREQUAL "m4")
  set(cpu "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16")
elseif(TAKT_CORTEX_M STREQUAL "m55")
  set(cpu "-mcpu=cortex-m55")
else()
  message(FATAL_ERROR "TAKT_CORTEX_M is m4 or m55, not '${TAKT_CORTEX_M}'")
endif()
set(CMAKE_CXX_FLAGS_INIT "${cpu} -mthumb -mfloat-abi=hard")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)

# Adds this port and the bare-metal sample to the build.
set(CMAKE_PROJECT_Takt_INCLUDE ${CMAKE_CURRENT_LIST_DIR}/project.cmake)
