//===- compile.h - from a file to programs that run --------------------*- C++ -*-===//

#ifndef COLL_COMPILER_COMPILE_H
#define COLL_COMPILER_COMPILE_H

#include "compiler/explanation.h"
#include "compiler/level.h"
#include "compiler/messages.h"
#include "compiler/stages.h"
#include "passes/export/jit/jit.h"
#include "passes/pipelines.h"

#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace coll::run {

/// A step as read from a file, at level L0 or later.
struct StepIr {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Level level = Level::Step;
  std::string note; // what had to be guessed; empty otherwise

  StepIr clone() const;
};

/// Parses a file's text, of any level; a foreign step is imported. `path` is for messages. The
/// parser's diagnostics go to `syntaxErrors`, which may be null; later diagnostics go through
/// `context`. `stages` may be null.
llvm::Expected<StepIr> loadStep(mlir::MLIRContext &context, llvm::StringRef path,
                                llvm::StringRef text, std::optional<int64_t> stateArgs,
                                StageWriter *stages, MessageHandler syntaxErrors = nullptr);

/// The step before it was distributed: a copy without mesh and shardings. Fails
/// from level L4 on.
llvm::Expected<StepIr> toSingleDevice(const StepIr &step);

struct CompileOptions {
  int64_t ranks = 0; // 0: as the IR says, or 1
  bool dataParallel = false;
  std::string axis = "dp";
  /// Strategies and patterns for a step that is not distributed yet; none if `mesh` is empty.
  std::string mesh; // as dp=2,tp=4
  std::string strategy;
  std::vector<std::string> shards;
  std::string topology; // as Target has it
  bool narrowSums = false;
  int64_t combineBytes = 0; // as PartitionOptions has it
  mlir::coll::StageOptions stages;
  mlir::coll::RootOptions roots;
  int64_t accumulate = 1; // as Target has it
  bool verify = true;
  unsigned optLevel = 2; // of the kernels, 0 to 3
  bool isShared = false; // as Target has it
  std::string gpu;       // as Target has it
  std::string precision = "highest";
  bool fuseAttention = false; // as Target has it
  bool convolutions = false;  // as Target has it
  std::string epilogues = "off";
};

/// Compiles a step for its ranks. `explanation`, where given, is filled in for steps up to L5;
/// `stages` may be null.
llvm::Expected<mlir::coll::ObjectCode> compileStep(StepIr step, const CompileOptions &options,
                                                   StageWriter *stages,
                                                   Explanation *explanation = nullptr);

} // namespace coll::run

#endif // COLL_COMPILER_COMPILE_H
