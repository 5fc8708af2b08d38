//===- stablehlo_indexed.h - indexed writes ---------------------------*- C++ -*-===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_INDEXED_H
#define COLL_PASSES_IMPORT_STABLEHLO_INDEXED_H

#include "passes/import/stablehlo_importer.h"

namespace mlir::coll::stablehlo {

/// Dimension numbers of coll.accumulate.
struct IndexedDims {
  SmallVector<int64_t> window, inserted, operandBatch, indicesBatch, indexMap;
};

/// coll.accumulate with `region` as its combiner. The result has the type of
/// `operand`; what else is wrong is reported on the source operation.
FailureOr<Value> buildAccumulate(Source &src, Value operand, Value indices, Value updates,
                                 const IndexedDims &dims, bool isUnique, Region &region);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_INDEXED_H
