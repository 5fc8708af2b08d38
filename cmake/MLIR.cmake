# Finds MLIR and LLVM 22 and offers coll_add_library().

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
message(STATUS "MLIR: ${MLIR_DIR}")
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
set(MLIR_LINK_MLIR_DYLIB ON)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(coll_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${coll_llvm_definitions})

# MLIR's headers take most of the time of a compilation, so all libraries of the compiler share one
# precompiled header. It holds no header of ours: each of those has to compile without it.
add_library(CollPrecompiledMlir OBJECT ${CMAKE_CURRENT_LIST_DIR}/precompiled.cc)
set_target_properties(CollPrecompiledMlir PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(CollPrecompiledMlir PRIVATE -fno-exceptions -fpch-preprocess -w $<$<BOOL:${COLL_QUICK_BUILD}>:-O1>)
target_precompile_headers(CollPrecompiledMlir PRIVATE
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Pass/PassManager.h>)

# coll_add_library(NAME source… [DEPENDS target…] [LINK target…]): a static
# library of the compiler. MLIR itself is linked once, from its shared library, by the tools.
function(coll_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${name} PRIVATE -fpch-preprocess)
  if(COLL_QUICK_BUILD)
    target_compile_options(${name} PRIVATE -O1)
  endif()
  target_precompile_headers(${name} REUSE_FROM CollPrecompiledMlir)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
endfunction()
