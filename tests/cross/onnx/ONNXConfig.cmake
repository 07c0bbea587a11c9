# Debian's libonnx-dev can't be installed for two architectures at once; its libraries and headers serve here without it.
set(libraries /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
foreach(name onnx onnx_proto)
  add_library(${name} SHARED IMPORTED)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION ${libraries}/lib${name}.so.1
    INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
    INTERFACE_LINK_LIBRARIES protobuf::libprotobuf)
endforeach()
set_property(TARGET onnx APPEND PROPERTY INTERFACE_LINK_LIBRARIES onnx_proto)
