//===- init_function.h - the function that gives ranks their state ----*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_INIT_FUNCTION_H
#define COLL_PASSES_TRANSFORM_INIT_FUNCTION_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// Makes @init before `step`: it creates the communicator of all ranks and broadcasts the initial
/// state from rank 0. State that is split is given to each rank directly. Every argument of `step`
/// carries a sharding over `mesh`.
void createInitFunction(func::FuncOp step, MeshOp mesh);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_INIT_FUNCTION_H
