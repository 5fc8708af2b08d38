//===- stage_mesh.cc -------------------------------------------------------------===//

#include "passes/transform/stages/stage_mesh.h"

#include "passes/analysis/micro_batches.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::coll;

namespace {

/// The mesh's axes in order, taken from the major one on.
class AxisReader {
public:
  explicit AxisReader(MeshOp mesh) {
    for (auto [name, size] :
         llvm::zip_equal(mesh.getAxisNames().getAsRange<StringAttr>(), mesh.getAxisSizes()))
      if (name != kTimeAxis)
        axes_.push_back({name, size});
  }

  /// The next axes, whose sizes multiply to `size`; nullopt if they do not.
  std::optional<SmallVector<StringAttr>> take(int64_t size) {
    SmallVector<StringAttr> taken;
    int64_t product = 1;
    while (product < size && next_ < axes_.size()) {
      product *= axes_[next_].second;
      taken.push_back(axes_[next_++].first);
    }
    return product == size ? std::optional(taken) : std::nullopt;
  }
  bool isDone() const { return next_ == axes_.size(); }

  std::string describe() const {
    std::string text;
    for (auto [name, size] : axes_)
      text += (text.empty() ? "" : ",") + name.str() + "=" + std::to_string(size);
    return text;
  }

private:
  SmallVector<std::pair<StringAttr, int64_t>> axes_;
  size_t next_ = 0;
};

} // namespace

FailureOr<StageMeshes> StageMeshes::parse(func::FuncOp step, MeshOp mesh, int numStages,
                                          ArrayRef<std::string> texts) {
  StageMeshes meshes;
  meshes.stages_.resize(numStages);
  for (StringRef text : texts) {
    auto [number, axes] = text.split(':');
    int stage = 0;
    if (number.trim().getAsInteger(10, stage) || axes.trim().empty())
      return step.emitError() << "mesh '" << text
                              << "' of a stage is not of the form 'NUMBER: AXIS=SIZE,…'";
    if (stage < 0 || stage >= numStages)
      return step.emitError() << "mesh '" << text << "' is for none of the " << numStages
                              << " stages that there are, 0 to " << numStages - 1;
    if (meshes.stages_[stage])
      return step.emitError() << "stage " << stage << " has two meshes; leave one out";
    AxisReader reader(mesh);
    DenseMap<StringAttr, Axes> &named = meshes.stages_[stage].emplace();
    for (StringRef part : llvm::split(axes, ',')) {
      auto [name, extent] = part.trim().split('=');
      int64_t size = 0;
      auto axis = StringAttr::get(step.getContext(), name.trim());
      if (axis.empty() || extent.trim().getAsInteger(10, size) || size < 1)
        return step.emitError() << "mesh '" << text
                                << "' of a stage is not of the form 'NUMBER: AXIS=SIZE,…'";
      std::optional<Axes> joined = reader.take(size);
      if (!joined || !named.try_emplace(axis, *joined).second)
        return step.emitError() << "mesh '" << text << "' does not fit the mesh "
                                << reader.describe() << " of a stage: axis " << axis
                                << " has to join neighbouring axes of it, in order";
    }
    if (!reader.isDone())
      return step.emitError() << "mesh '" << text << "' leaves ranks of the mesh "
                              << reader.describe() << " out; give it as many";
  }
  return meshes;
}

SmallVector<StringAttr> StageMeshes::expand(int stage, StringAttr axis) const {
  if (!stages_[stage])
    return {axis};
  auto found = stages_[stage]->find(axis);
  return found == stages_[stage]->end() ? Axes() : found->second;
}
