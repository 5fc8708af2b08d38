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

# MLIR's headers take most of the time of a compilation. The dialect's own are there as nearly all
# sources of the compiler include them.
coll_precompile(CollPrecompiledMlir
  <mlir/Dialect/Affine/IR/AffineOps.h>
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Bufferization/IR/Bufferization.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/GPU/IR/GPUDialect.h>
  <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Linalg/Transforms/Transforms.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Pass/Pass.h>
  <mlir/Pass/PassManager.h>
  <mlir/Parser/Parser.h>
  <llvm/Support/JSON.h>
  ${CMAKE_SOURCE_DIR}/dialect/dialect.h)
add_dependencies(CollPrecompiledMlir CollDialectIncGen)

# coll_uses_mlir(NAME…): targets that are compiled as MLIR is, with its precompiled header.
function(coll_uses_mlir)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
    if(COLL_QUICK_BUILD OR COLL_SANITIZE)
      target_compile_options(${target} PRIVATE SHELL:-O1) # the last level, even where a folder has it among others
    endif()
    if(NOT target STREQUAL CollPrecompiledMlir)
      target_precompile_headers(${target} REUSE_FROM CollPrecompiledMlir)
    endif()
  endforeach()
endfunction()
coll_uses_mlir(CollPrecompiledMlir)

# coll_add_library(NAME source… [DEPENDS target…] [LINK target…]): a static
# library of the compiler. MLIR itself is linked once, from its shared library, by the tools.
function(coll_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  coll_uses_mlir(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
endfunction()
