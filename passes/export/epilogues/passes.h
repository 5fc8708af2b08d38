//===- passes.h - the pass of this folder ------------------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EPILOGUES_PASSES_H
#define COLL_PASSES_EXPORT_EPILOGUES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::coll {

#define GEN_PASS_DECL
#include "passes/export/epilogues/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/export/epilogues/passes.h.inc"

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EPILOGUES_PASSES_H
