#include "plan/layout.h"

#include <algorithm>

namespace coll::plan {

bool contains(const std::vector<int> &axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<int> without(const std::vector<int> &axes, const std::vector<int> &others) {
  std::vector<int> rest;
  for (int axis : axes)
    if (!contains(others, axis))
      rest.push_back(axis);
  return rest;
}

int64_t Mesh::numRanks() const {
  int64_t ranks = 1;
  for (const Axis &axis : axes)
    ranks = saturatingProduct(ranks, axis.size);
  return ranks;
}

int64_t Mesh::sizeOf(const std::vector<int> &some) const {
  int64_t product = 1;
  for (int axis : some)
    product = saturatingProduct(product, axes[static_cast<size_t>(axis)].size);
  return product;
}

int64_t Mesh::coordinate(int64_t rank, int axis) const {
  for (size_t i = axes.size(); i-- > static_cast<size_t>(axis) + 1;)
    rank /= axes[i].size;
  return rank % axes[static_cast<size_t>(axis)].size;
}

Layout replicated(const std::vector<int64_t> &shape) {
  Layout layout;
  for (int64_t extent : shape)
    layout.dims.push_back({{}, extent});
  return layout;
}

Split splitOver(const Mesh &mesh, std::vector<int> axes, int64_t extent) {
  const int64_t shards = mesh.sizeOf(axes);
  return {std::move(axes), extent / shards + (extent % shards != 0)};
}

Layout canonical(const Mesh &mesh, const std::vector<int64_t> &shape, const Layout &layout) {
  auto isVoid = [&](int axis) { return mesh.axes[static_cast<size_t>(axis)].size == 1; };
  Layout result = layout;
  for (size_t d = 0; d < result.dims.size(); ++d) {
    Split &split = result.dims[d];
    split.axes.erase(std::remove_if(split.axes.begin(), split.axes.end(), isVoid),
                     split.axes.end());
    if (split.axes.empty())
      split.block = shape[d];
  }
  std::vector<int> &partial = result.partial;
  partial.erase(std::remove_if(partial.begin(), partial.end(), isVoid), partial.end());
  std::sort(partial.begin(), partial.end());
  return result;
}

namespace {

std::string nameOf(const Mesh &mesh, int axis) {
  return "\"" + mesh.axes[static_cast<size_t>(axis)].name + "\"";
}

} // namespace

Result<Layout> checkLayout(const Mesh &mesh, const std::vector<int64_t> &shape,
                           const Layout &layout) {
  if (mesh.axes.size() > Mesh::kMostAxes)
    return Error{"a mesh of " + std::to_string(mesh.axes.size()) + " axes: up to " +
                 std::to_string(Mesh::kMostAxes) + " are possible"};
  if (layout.dims.size() != shape.size())
    return Error{"the layout has " + std::to_string(layout.dims.size()) +
                 " dimensions, the tensor " + std::to_string(shape.size())};
  std::vector<bool> used(mesh.axes.size());
  auto use = [&](int axis) -> std::string {
    if (axis < 0 || static_cast<size_t>(axis) >= mesh.axes.size())
      return "the mesh has " + std::to_string(mesh.axes.size()) + " axes, and none numbered " +
             std::to_string(axis);
    if (used[static_cast<size_t>(axis)])
      return "axis " + nameOf(mesh, axis) + " is used twice";
    used[static_cast<size_t>(axis)] = true;
    return {};
  };
  for (size_t d = 0; d < shape.size(); ++d) {
    const Split &split = layout.dims[d];
    for (int axis : split.axes)
      if (std::string error = use(axis); !error.empty())
        return Error{"dimension " + std::to_string(d) + ": " + error};
    const int64_t shards = mesh.sizeOf(split.axes);
    int64_t covered = 0;
    if (split.block < 0 || __builtin_mul_overflow(split.block, shards, &covered) ||
        (!split.axes.empty() && covered < shape[d]))
      return Error{"dimension " + std::to_string(d) + ": " + std::to_string(shards) +
                   " blocks of " + std::to_string(split.block) + " do not cover its " +
                   std::to_string(shape[d]) + " elements"};
  }
  for (int axis : layout.partial)
    if (std::string error = use(axis); !error.empty())
      return Error{"partial: " + error};
  return canonical(mesh, shape, layout);
}

int64_t localElems(const Layout &layout) {
  int64_t elems = 1;
  for (const Split &split : layout.dims)
    elems = saturatingProduct(elems, split.block);
  return elems;
}

std::string describe(const Mesh &mesh, const Layout &layout) {
  auto list = [&](const std::vector<int> &axes) {
    std::string text;
    for (int axis : axes)
      text += (text.empty() ? "" : ",") + mesh.axes[static_cast<size_t>(axis)].name;
    return "[" + text + "]";
  };
  std::string text;
  for (const Split &split : layout.dims)
    text += (text.empty() ? "" : ",") + list(split.axes);
  if (!layout.partial.empty())
    text += (text.empty() ? "partial " : " partial ") + list(layout.partial);
  return text;
}

} // namespace coll::plan
