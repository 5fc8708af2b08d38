//===- stablehlo_indexed.h - indexed writes ---------------------------*- C++ -*-===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_INDEXED_H
#define COLL_PASSES_IMPORT_STABLEHLO_INDEXED_H

#include "passes/import/stablehlo_importer.h"

namespace mlir::coll::stablehlo {

/// Dimension numbers of coll.accumulate.
struct IndexedDims {
  SmallVector<int64_t> window, inserted, operandBatch, indicesBatch, indexMap;
};

/// The part of a region for operand `number` of several that it combines at once: it takes an
/// element of each, then an update of each, and returns the new elements.
struct Combiner {
  Region &region;
  SmallVector<Type> elements; // one type per operand
  unsigned number = 0;
};

/// Builds coll.accumulate with that combiner. The result has the type of `operand`. Errors,
/// such as a combiner that reads other operands' elements, are reported on the source
/// operation.
FailureOr<Value> buildAccumulate(Source &src, Value operand, Value indices, Value updates,
                                 const IndexedDims &dims, bool isUnique, const Combiner &combiner);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_INDEXED_H
