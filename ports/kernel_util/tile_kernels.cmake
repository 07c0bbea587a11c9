# takt_tile_kernels: the tile kernels for this processor.
set(folder ${CMAKE_CURRENT_LIST_DIR})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(sources ${folder}/tile_kernels_avx2.cc ${folder}/tile_dispatch_x86.cc)
  set_source_files_properties(${folder}/tile_kernels_avx2.cc PROPERTIES COMPILE_OPTIONS "-mavx2;-O3")
else()
  set(sources ${folder}/tile_dispatch_portable.cc)
endif()
takt_library(tile_kernels EMBEDDED SOURCES ${folder}/tile_kernels.cc ${sources} DEPENDS takt::engine)
