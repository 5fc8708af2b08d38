//===- rank_classes.h - the number of ranks, and the program of each --*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_RANK_CLASSES_H
#define COLL_PASSES_ANALYSIS_RANK_CLASSES_H

#include "dialect/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::coll {

/// Number of ranks of the job: that of the module's meshes; without a mesh
/// `requested`; without both the largest rank named by a rank list or a program,
/// plus one. Emits an error if these contradict one another.
FailureOr<int64_t> getNumRanks(ModuleOp module, int64_t requested);

/// Ranks that run the same code: a coll.program, or the module itself where it has none.
struct RankClass {
  Operation *source;
  std::string name; // the program's, or "class0"
  SmallVector<int64_t> ranks;
  SmallVector<func::FuncOp> functions;

  /// The function of that name, or null.
  func::FuncOp lookup(StringRef function) const;
};

/// The classes of a module whose ranks are 0 … numRanks - 1, in the order of its programs.
SmallVector<RankClass> getRankClasses(ModuleOp module, int64_t numRanks);

/// Answers whether running an operation may communicate. Callees are looked into.
class CommunicationFinder {
public:
  /// `op` takes part in communication, or holds or calls an operation that does.
  bool communicates(Operation *op);

  /// The function that `call` names, or null if it is not in the module.
  func::FuncOp resolve(func::CallOp call);

private:
  SymbolTableCollection symbols_;
  DenseMap<Operation *, bool> known_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_RANK_CLASSES_H
