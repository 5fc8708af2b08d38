//===- level.cc - which level of the IR a module is at --------------------------===//

#include "compiler/level.h"

#include "dialect/exec/exec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace coll::run {
namespace {

using mlir::coll::kGlobalTypeAttr;
using mlir::coll::kShardingAttr;
using mlir::coll::kShardingsAttr;

bool hasArgOrResultAttr(mlir::func::FuncOp func, llvm::StringRef name) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttr(i, name))
      return true;
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (func.getResultAttr(i, name))
      return true;
  return false;
}

/// The kinds of operations in a module.
struct Evidence {
  bool foreign = false, executable = false, exec = false, kernels = false, programs = false;
  bool local = false, sharded = false, communicates = false, mesh = false;

  void add(mlir::Operation *op) {
    llvm::StringRef dialect = op->getName().getDialectNamespace();
    foreign |= dialect == "stablehlo" || dialect == "chlo" || !op->isRegistered();
    executable |= op->getParentOp() && llvm::isa<mlir::ModuleOp>(op);
    exec |= llvm::isa<mlir::coll::exec::FunctionOp>(op);
    programs |= llvm::isa<mlir::coll::ProgramOp>(op);
    mesh |= llvm::isa<mlir::coll::MeshOp>(op);
    sharded |= llvm::isa<mlir::coll::ReshardOp>(op) || op->hasAttr(kShardingsAttr);
    communicates |= llvm::isa<mlir::coll::CollectiveOpInterface>(op) ||
                    llvm::isa<mlir::coll::RankOp, mlir::coll::AxisIndexOp, mlir::coll::GroupOp>(op);
    if (auto func = llvm::dyn_cast<mlir::func::FuncOp>(op)) {
      local |= hasArgOrResultAttr(func, kGlobalTypeAttr);
      sharded |= hasArgOrResultAttr(func, kShardingAttr);
      kernels |= hasArgOrResultAttr(func, "coll.access");
    }
  }
};

} // namespace

Level detectLevel(mlir::ModuleOp module) {
  Evidence found;
  module.walk([&](mlir::Operation *op) { found.add(op); });
  if (found.foreign)
    return Level::Foreign;
  if (found.exec)
    return Level::Exec;
  if (found.executable)
    return Level::Executable;
  if (found.kernels)
    return Level::Kernels;
  if (found.programs)
    return Level::Programs;
  if (found.local)
    return Level::Spmd;
  if (found.sharded)
    return Level::Annotated;
  if (found.communicates)
    return Level::Spmd;
  return found.mesh ? Level::Annotated : Level::Step;
}

llvm::StringRef describe(Level level) {
  switch (level) {
  case Level::Foreign:
    return "a foreign step";
  case Level::Step:
    return "a step (L0)";
  case Level::Annotated:
    return "an annotated step (L1 to L3)";
  case Level::Spmd:
    return "one program for all ranks (L4)";
  case Level::Programs:
    return "rank programs (L6)";
  case Level::Kernels:
    return "rank programs with kernels";
  case Level::Exec:
    return "rank programs on buffers (L7a)";
  case Level::Executable:
    return "an executable (L7)";
  }
  llvm_unreachable("every level has a case");
}

} // namespace coll::run
