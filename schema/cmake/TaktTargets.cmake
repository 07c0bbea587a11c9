# Compiler settings that every target shares, and takt_library().

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
option(TAKT_WERROR "Warnings are errors" ON)

set(TAKT_GENERATED_DIR ${CMAKE_BINARY_DIR}/generated)

option(TAKT_UNITE "Compile the engine's many short files in a few" OFF)

# Three roundings mean three roundings: no contraction to FMA (engine/NUMERICS.md).
add_library(takt_options INTERFACE)
target_compile_options(takt_options INTERFACE -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
  # gcc 12 sees overlaps in std::string's operator+ that cannot be (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${TAKT_WERROR}>:-Werror>)
target_include_directories(takt_options INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)

# tests/fuzz/CMakeLists.txt says how; every library is instrumented.
option(TAKT_FUZZ "Build fuzzers with libFuzzer and sanitizers (clang)" OFF)
if(TAKT_FUZZ)
  target_compile_options(takt_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=function,vptr -fno-sanitize-recover=all)
  target_link_options(takt_options INTERFACE -fsanitize=address,undefined)
endif()

# Engine and ports: no exceptions, RTTI or guarded statics; sections so that the linker drops what a plan does not need.
add_library(takt_embedded_options INTERFACE)
target_compile_options(takt_embedded_options INTERFACE -fno-exceptions -fno-rtti -fno-threadsafe-statics
  -ffunction-sections -fdata-sections)
target_link_libraries(takt_embedded_options INTERFACE takt_options)

# takt_precompile(target HEADER...): parsed once for all the target's files, each of which includes what it needs all the same
# (the preset tidy goes without). The options let ccache see through them.
function(takt_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# takt_library(name EMBEDDED|HOST SOURCES ... DEPENDS ...): a static library takt_<name> with alias takt::<name>.
function(takt_library name)
  cmake_parse_arguments(ARG "EMBEDDED;HOST" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(takt_${name} STATIC ${ARG_SOURCES})
  add_library(takt::${name} ALIAS takt_${name})
  set_target_properties(takt_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(takt_${name} PUBLIC ${ARG_DEPENDS})
  if(ARG_EMBEDDED)
    target_link_libraries(takt_${name} PRIVATE takt_embedded_options)
  else()
    target_link_libraries(takt_${name} PRIVATE takt_options)
  endif()
  target_include_directories(takt_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
endfunction()
