//===- step_sharding.cc ----------------------------------------------------------===//

#include "passes/transform/strategy/step_sharding.h"

#include "dialect/signature.h"

namespace mlir::coll {

StepSharding::StepSharding(func::FuncOp step, MeshOp mesh) : step_(step), mesh_(mesh) {
  for (unsigned index = 0; index < step.getNumArguments(); ++index) {
    auto type = dyn_cast<RankedTensorType>(step.getArgument(index).getType());
    dims_.emplace_back(type ? type.getRank() : 0);
    isFixed_.push_back(step.getArgAttr(index, kShardingAttr) != nullptr);
  }
}

bool StepSharding::isTensor(unsigned index) const {
  return isa<RankedTensorType>(func::FuncOp(step_).getArgument(index).getType());
}

StringRef StepSharding::getRole(unsigned index) const {
  auto role = func::FuncOp(step_).getArgAttrOfType<StringAttr>(index, kRoleAttr);
  return role ? role.getValue() : StringRef();
}

bool StepSharding::isState(unsigned index) const { return getRole(index) == kRoleState; }

RankedTensorType StepSharding::getType(unsigned index) const {
  return cast<RankedTensorType>(func::FuncOp(step_).getArgument(index).getType());
}

std::string getArgumentPath(func::FuncOp step, unsigned index) {
  auto name = step.getArgAttrOfType<StringAttr>(index, kNameAttr);
  if (!name)
    return "arg" + std::to_string(index);
  std::string path;
  for (char c : name.getValue()) {
    if (c == '[' || c == '.' || c == '/')
      path += '/';
    else if (c != ']' && c != '\'' && c != '"')
      path += c;
  }
  return path;
}

std::optional<int64_t> StepSharding::getBatchSize() const {
  for (unsigned index = 0; index < size(); ++index)
    if (getRole(index) == kRoleBatch && isTensor(index) && getType(index).getRank() > 0)
      return getType(index).getDimSize(0);
  return std::nullopt;
}

void StepSharding::fix(unsigned index, ArrayRef<SmallVector<StringAttr>> dims) {
  dims_[index].assign(dims.begin(), dims.end());
  isFixed_[index] = true;
}

void StepSharding::split(unsigned index, unsigned dim, StringAttr axis) {
  bool hasAxis = llvm::any_of(
      dims_[index], [&](ArrayRef<StringAttr> axes) { return llvm::is_contained(axes, axis); });
  if (!isFixed_[index] && !hasAxis)
    dims_[index][dim].push_back(axis);
}

void StepSharding::write() {
  auto symbol = FlatSymbolRefAttr::get(mesh_.getSymNameAttr());
  MLIRContext *context = step_.getContext();
  SmallVector<Attribute> shardings(size());
  for (unsigned index = 0; index < size(); ++index) {
    if (!isTensor(index) || step_.getArgAttr(index, kShardingAttr))
      continue;
    SmallVector<DimShardingAttr> dims;
    for (ArrayRef<StringAttr> axes : dims_[index])
      dims.push_back(DimShardingAttr::get(context, axes, 1));
    shardings[index] = ShardingAttr::get(context, symbol, dims, {}, ReductionKind::Sum);
  }
  setArgumentAttrs(step_, kShardingAttr, shardings);
}

} // namespace mlir::coll
