//===- passes.h - the passes of coll ----------------------------------*- C++ -*-===//
//
// Constructors, options and registration of every pass in passes.td.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_PASSES_H
#define COLL_PASSES_PASSES_H

#include "dialect/dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::coll {

#define GEN_PASS_DECL
#include "passes/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/passes.h.inc"

/// Registers every dialect and every interface implementation that the passes and
/// the IR levels need.
void registerCollDialects(DialectRegistry &registry);

} // namespace mlir::coll

#endif // COLL_PASSES_PASSES_H
