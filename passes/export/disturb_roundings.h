//===- disturb_roundings.h - the same step with other rounding errors ---*- C++ -*-===//
//
// To measure how much rounding changes the results of a step that computes in narrow floats, the
// step is run again with each conversion to f16, bf16 or an eight-bit float rounded in another way.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_DISTURB_ROUNDINGS_H
#define COLL_PASSES_EXPORT_DISTURB_ROUNDINGS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/export/roundings.h"

namespace mlir::coll {

/// Requests other roundings in the kernels of `module`. The choice depends on each value's bits and
/// on `seed` only.
void disturbRoundings(ModuleOp module, Roundings roundings, uint32_t seed);

/// Carries it out in one kernel whose conversions are arith.truncf.
void applyDisturbance(func::FuncOp kernel);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_DISTURB_ROUNDINGS_H
