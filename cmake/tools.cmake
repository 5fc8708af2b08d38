# coll_add_tool(NAME FUNCTION source… LINK library…): the library NAME-main, which holds FUNCTION
# (tools/common/tools.h), and the program NAME, which calls it. MLIR goes to the program alone:
# the static executable (tools/coll) links the same library with another MLIR.
function(coll_add_tool name function)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name}-main STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_definitions(${name}-main PRIVATE COLL_VERSION="${PROJECT_VERSION}")
  target_compile_options(${name}-main PRIVATE -Wall -Wextra)
  target_link_libraries(${name}-main PUBLIC ${ARG_LINK})
  add_executable(${name} ${CMAKE_SOURCE_DIR}/tools/common/main.cc)
  target_compile_definitions(${name} PRIVATE COLL_TOOL_MAIN=${function})
  target_link_libraries(${name} PRIVATE ${name}-main)
endfunction()
