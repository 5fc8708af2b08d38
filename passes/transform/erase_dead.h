//===- erase_dead.h - erases unused operations -------------------------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_ERASE_DEAD_H
#define COLL_PASSES_TRANSFORM_ERASE_DEAD_H

#include "mlir/IR/Block.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::coll {

/// Erases operations without effects whose results nothing uses, in whatever order they stand.
inline void eraseDead(Block &block) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (!isOpTriviallyDead(&op))
        continue;
      op.erase();
      changed = true;
    }
  }
}

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_ERASE_DEAD_H
