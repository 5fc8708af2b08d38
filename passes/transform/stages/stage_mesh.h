//===- stage_mesh.h - meshes of single stages -------------------------*- C++ -*-===//
//
// All stages have equally many ranks, as the mesh of the step says. A stage's own mesh joins
// neighbouring axes of it: over dp=2,tp=2 a stage may have dp=4, or tp=4.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_TRANSFORM_STAGES_STAGE_MESH_H
#define COLL_PASSES_TRANSFORM_STAGES_STAGE_MESH_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// Which axes of the step's mesh each stage has under a name.
class StageMeshes {
public:
  /// Reads texts such as "1: dp=4"; errors are reported at `step`. The time axis is not an axis of
  /// a stage.
  static FailureOr<StageMeshes> parse(func::FuncOp step, MeshOp mesh, int numStages,
                                      ArrayRef<std::string> texts);

  /// The axes of the step's mesh that stand for `axis` on the stage; none if the stage lacks it.
  SmallVector<StringAttr> expand(int stage, StringAttr axis) const;

private:
  using Axes = SmallVector<StringAttr>;

  SmallVector<std::optional<DenseMap<StringAttr, Axes>>> stages_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGES_STAGE_MESH_H
