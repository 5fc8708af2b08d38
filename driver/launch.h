//===- launch.h - compiled code on its ranks ----------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_LAUNCH_H
#define COLL_DRIVER_LAUNCH_H

#include "passes/export/jit/jit.h"
#include "runtime/step/executor.h"

namespace coll::run {

/// Compiled code that this process can run, one program for each class of ranks. Any number of
/// executors may run it at once; the code ends after them.
struct LinkedStep {
  std::vector<std::unique_ptr<mlir::coll::JitProgram>> code;
  std::vector<rt::Program> classes;
};

/// An error if the code cannot be linked here, or is for more than kMaxRanks.
llvm::Expected<LinkedStep> linkStep(mlir::coll::ObjectCode code);

/// A step on its rank threads. The executor runs the code, so it ends first.
struct LaunchedStep {
  std::vector<std::unique_ptr<mlir::coll::JitProgram>> code;
  std::unique_ptr<rt::Executor> executor;
};

/// Starts the ranks of a compiled step. More than kMaxRanks is an error.
llvm::Expected<LaunchedStep> launchStep(mlir::coll::ObjectCode code,
                                        const rt::ExecutorOptions &execution);

/// The same from a shared object that coll-compile wrote.
llvm::Expected<LaunchedStep> launchLibrary(const std::string &path,
                                           const rt::ExecutorOptions &execution);

} // namespace coll::run

#endif // COLL_DRIVER_LAUNCH_H
