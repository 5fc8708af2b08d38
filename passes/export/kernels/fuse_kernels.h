//===- fuse_kernels.h - pieces of coll-fuse-kernels --------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_KERNELS_FUSE_KERNELS_H
#define COLL_PASSES_EXPORT_KERNELS_FUSE_KERNELS_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::coll {

/// Product of the loop ranges.
int64_t countIterations(linalg::GenericOp op);

/// Whether computing the producer inside the consumer is at least as fast as reading its result
/// from memory. `recomputes`: also at several uses, if that reads no more memory.
bool shouldFuseProducer(OpOperand *fusedOperand, bool recomputes);

/// Replaces a look-up of a few elements of an elementwise result by their computation.
void addExtractPatterns(RewritePatternSet &patterns);

/// Whether moving the reshape across the generic lets the generic meet its neighbours' loops; false
/// if the reshape only adds or drops unit dimensions.
bool shouldMoveReshape(OpOperand *reshapedOperand);

/// Cuts inputs to the elements that the loops reach. Then a window that leaves a remainder is not
/// longer than its loop, even if its other loop is dropped because it has one position.
void trimWindows(RewriterBase &rewriter, linalg::GenericOp op);

/// Merges generics of the block that run over the same loops and share data into
/// one generic with several results. Never reorders operations with side effects.
void mergeSiblings(RewriterBase &rewriter, Block &block);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_KERNELS_FUSE_KERNELS_H
