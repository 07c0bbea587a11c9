# Debian's cross compilers, run under qemu-user: cmake --toolchain tests/cross/toolchain.cmake -DTAKT_CROSS=aarch64|riscv64
# The converter needs libraries of that architecture too (the last part of tests/packages.txt); headers are the host's.
set(TAKT_CROSS aarch64 CACHE STRING "Architecture to build for: aarch64 or riscv64")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAKT_CROSS)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TAKT_CROSS})
set(CMAKE_CXX_COMPILER ${TAKT_CROSS}-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${TAKT_CROSS}-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${TAKT_CROSS};-L;/usr/${TAKT_CROSS}-linux-gnu)
# The name that links comes with headers and libraries of the host's architecture only.
set(SNDFILE_LIBRARY /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libsndfile.so.1 CACHE FILEPATH "")
set(ONNX_DIR ${CMAKE_CURRENT_LIST_DIR}/onnx CACHE PATH "")
