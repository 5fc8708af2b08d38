//===- stablehlo_handlers.h - one handler per kind of operation -------*- C++ -*-===//
//
// The table in stablehlo.cc says which operation each one imports.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_HANDLERS_H
#define COLL_PASSES_IMPORT_STABLEHLO_HANDLERS_H

#include "passes/import/stablehlo_importer.h"

namespace mlir::coll::stablehlo {

// stablehlo_convert.cc
LogicalResult importElementwise(Source &src);
LogicalResult importConstant(Source &src);
LogicalResult importCompare(Source &src);
LogicalResult importSelect(Source &src);
LogicalResult importClamp(Source &src);
LogicalResult importConvert(Source &src);
LogicalResult importBitcastConvert(Source &src);
LogicalResult importReducePrecision(Source &src);
LogicalResult importFloatClass(Source &src);

// stablehlo_shape.cc
LogicalResult importBroadcastInDim(Source &src);
LogicalResult importReshape(Source &src);
LogicalResult importTranspose(Source &src);
LogicalResult importReverse(Source &src);
LogicalResult importIota(Source &src);
LogicalResult importSlice(Source &src);
LogicalResult importConcatenate(Source &src);
LogicalResult importPad(Source &src);

// stablehlo_reduce.cc
LogicalResult importReduce(Source &src);
LogicalResult importDotGeneral(Source &src);

// stablehlo_window.cc
LogicalResult importReduceWindow(Source &src);

// stablehlo_convolution.cc
LogicalResult importConvolution(Source &src);

// stablehlo_select.cc
LogicalResult importSelectAndScatter(Source &src);

// stablehlo_indexed.cc
LogicalResult importDynamicSlice(Source &src);
LogicalResult importDynamicUpdateSlice(Source &src);
LogicalResult importGather(Source &src);
LogicalResult importScatter(Source &src);

// stablehlo_sort.cc
LogicalResult importSort(Source &src);
LogicalResult importTopK(Source &src);

// stablehlo_random.cc
LogicalResult importRngBitGenerator(Source &src);

// stablehlo_control.cc
LogicalResult importWhile(Source &src);
LogicalResult importIf(Source &src);
LogicalResult importCase(Source &src);
LogicalResult importCall(Source &src);
LogicalResult importComposite(Source &src);
LogicalResult importCustomCall(Source &src);
LogicalResult importShardingConstraint(Source &src);
LogicalResult importShardingGroup(Source &src);
LogicalResult importIdentity(Source &src);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_HANDLERS_H
