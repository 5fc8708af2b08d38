//===- plan_space.h - the plans that a search may try --------------------*- C++ -*-===//

#ifndef COLL_COMPILER_PLAN_SPACE_H
#define COLL_COMPILER_PLAN_SPACE_H

#include "compiler/explanation.h"
#include "compiler/target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace coll::run {

/// Arguments that are split in the same way: a pattern as --shard takes it matches them and no
/// others.
struct ArgumentGroup {
  std::string pattern;
  std::vector<int64_t> shape;
  int64_t elements = 0; // of all together
};

struct ArgumentGroups {
  /// The arguments with elements to split, one by one.
  std::vector<ArgumentGroup> single;
  /// Arguments of repeated layers form one group, and a parameter is also in a group with its
  /// optimizer state; the largest groups come first.
  std::vector<ArgumentGroup> folded;
};

ArgumentGroups findArgumentGroups(mlir::func::FuncOp step);

/// Whether all arguments that the pattern `other` of a group matches belong to the group of
/// `pattern`, too.
bool covers(llvm::StringRef pattern, llvm::StringRef other);

/// "dp=2,tp=4".
std::string describeMesh(llvm::ArrayRef<MeshAxisOption> mesh);

/// The meshes of up to two axes, or the given one.
std::vector<std::vector<MeshAxisOption>> listMeshes(int64_t ranks,
                                                    const std::vector<MeshAxisOption> &given);

/// The shardings "[x, -]" of a tensor over the axes of a mesh: each axis splits one dimension that
/// is long enough, or none.
std::vector<std::string> listShardings(const ArgumentGroup &group,
                                       const std::vector<MeshAxisOption> &mesh);

/// Whether a batch argument has a height other than dimension 1, which `spatial` splits and
/// `sequence` does not.
bool hasHeight(mlir::func::FuncOp step);

/// Strategies that only some steps have anything for.
struct RareStrategies {
  bool spatial = false, expert = false;
};

/// Every choice of strategies for `axes` axes: over every factorisation of the ranks or, if the
/// user gave a mesh, over its axes. With one axis, also the plan that splits nothing. Experts are
/// split over an axis of their own, or over one that splits the batch, too.
std::vector<PlanCandidate> listStrategies(int64_t ranks, size_t axes,
                                          const std::vector<MeshAxisOption> &given,
                                          RareStrategies rare);

/// Whether one list of strategies contains another one.
bool extends(llvm::StringRef strategies, llvm::StringRef others);

/// Whether all axes of mesh `other` but one have the same size in `mesh`: "dp=4,fsdp=2,tp=8" comes
/// from "dp=8,tp=8" by a cut of one axis.
bool cutsOneAxis(llvm::StringRef mesh, llvm::StringRef other);

/// The mesh and the strategies of `plan` with the patterns of `other`, whose axes are renamed by
/// their places; nullopt if the meshes have other sizes.
std::optional<PlanCandidate> withShardsOf(const PlanCandidate &plan, const PlanCandidate &other);

} // namespace coll::run

#endif // COLL_COMPILER_PLAN_SPACE_H
