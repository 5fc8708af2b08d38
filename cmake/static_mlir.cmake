# What stands for MLIR's and OpenSSL's shared libraries where a file is to need glibc alone:
# coll_static_mlir; and coll_static_own, the project's libraries from the compiler down, which are
# linked as files, since as targets they bring MLIR's shared library along.

set(coll_static_own
  CollLaunch CollCompiler CollPasses CollImport CollTransform CollAnalysis CollExport CollJit CollThreadPool CollExec
  CollDialect CollRuntime CollPerfetto CollProfilerHost CollProfilerAbi CollPlan CollNet CollKernels CollBase)

get_filename_component(coll_llvm_lib ${MLIR_DIR}/../.. ABSOLUTE)
file(GLOB coll_static_mlir ${coll_llvm_lib}/libMLIR*.a ${coll_llvm_lib}/libLLVM*.a)
if(NOT coll_static_mlir)
  message(FATAL_ERROR "there are no archives of MLIR and LLVM in ${coll_llvm_lib}")
endif()
foreach(name crypto z zstd)
  find_library(COLL_STATIC_${name} lib${name}.a)
  if(NOT COLL_STATIC_${name})
    message(FATAL_ERROR "an executable or library that needs glibc alone needs lib${name}.a")
  endif()
  list(APPEND coll_static_mlir ${COLL_STATIC_${name}})
endforeach()
