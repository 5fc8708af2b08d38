//===- stages.h - the IR of every level, as files ----------------------*- C++ -*-===//

#ifndef COLL_COMPILER_STAGES_H
#define COLL_COMPILER_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace coll::run {

/// The IR at one point of the compilation.
struct Stage {
  std::string name; // "03-partition"
  std::string text;
};

/// Writes `DIR/NN-STEM.mlir` for the input and after each pass of coll: STEM is the
/// pass' flag without `coll-`. Clean-up passes refine the file of the pass before
/// them. Passes that change nothing write nothing.
class StageWriter {
public:
  /// Creates the folder.
  static llvm::Expected<std::unique_ptr<StageWriter>> create(llvm::StringRef folder);
  /// Keeps the stages in memory instead; `stages` is borrowed.
  explicit StageWriter(std::vector<Stage> &stages) : kept_(&stages) {}

  /// Starts a stage with what `module` is now.
  void begin(llvm::StringRef stem, mlir::ModuleOp module);
  /// Replaces the current stage's file.
  void refine(mlir::ModuleOp module);

  /// An instrumentation for a pass manager; it borrows the writer.
  std::unique_ptr<mlir::PassInstrumentation> makeInstrumentation();

  /// The write that failed: the last one that was tried.
  llvm::Error takeError() const;

private:
  explicit StageWriter(llvm::StringRef folder) : folder_(folder) {}
  void write(std::string text);

  std::vector<Stage> *kept_ = nullptr; // null: they are written to the folder
  std::string folder_;
  std::string current_;
  std::string text_;
  std::string error_;
  int count_ = 0;
};

} // namespace coll::run

#endif // COLL_COMPILER_STAGES_H
