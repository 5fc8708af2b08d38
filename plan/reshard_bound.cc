#include "plan/reshard_bound.h"

#include <algorithm>

namespace coll::plan {

namespace {

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

struct Interval {
  int64_t begin = 0, end = 0;
};

// The valid elements of a rank's block.
Interval blockOf(const Mesh &mesh, const Split &split, int64_t extent, int64_t rank) {
  int64_t index = 0;
  for (int axis : split.axes)
    index = index * mesh.axes[static_cast<size_t>(axis)].size + mesh.coordinate(rank, axis);
  const int64_t begin = std::min(extent, saturatingProduct(index, split.block));
  return {begin, begin + std::min(split.block, extent - begin)};
}

// Elements that all ranks want together, and how many of these they hold.
std::pair<int64_t, int64_t> countWanted(const Mesh &mesh, const Reshard &reshard) {
  int64_t wanted = 0, held = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    int64_t want = 1, have = 1;
    for (size_t d = 0; d < reshard.shape.size(); ++d) {
      const Interval to = blockOf(mesh, reshard.to.dims[d], reshard.shape[d], rank);
      const Interval from = blockOf(mesh, reshard.from.dims[d], reshard.shape[d], rank);
      want = saturatingProduct(want, to.end - to.begin);
      have = saturatingProduct(
          have, std::max<int64_t>(0, std::min(to.end, from.end) - std::max(to.begin, from.begin)));
    }
    wanted += std::min(want, INT64_MAX - wanted);
    held += std::min(have, INT64_MAX - held);
  }
  return {wanted, held};
}

} // namespace

int64_t leastWireBytes(const Mesh &mesh, const Reshard &reshard) {
  const std::vector<int> ended = without(reshard.from.partial, reshard.to.partial);
  const std::vector<int> added = without(reshard.to.partial, reshard.from.partial);
  const std::vector<int> kept = without(reshard.from.partial, ended);
  // A group of ranks along the added axes needs each element once, whichever of them has it.
  const int64_t sharers = mesh.sizeOf(added);
  if (ended.empty()) {
    std::vector<int> split;
    for (const Split &dim : reshard.from.dims)
      split.insert(split.end(), dim.axes.begin(), dim.axes.end());
    const int64_t copies = mesh.sizeOf(without(added, split));
    const auto [wanted, held] = countWanted(mesh, reshard);
    return saturatingProduct(wanted / sharers - held / copies, reshard.elemBytes);
  }
  int64_t elems = mesh.sizeOf(kept), shards = 1;
  for (size_t d = 0; d < reshard.shape.size(); ++d) {
    elems = saturatingProduct(elems, reshard.shape[d]);
    shards = saturatingProduct(shards, mesh.sizeOf(reshard.to.dims[d].axes));
  }
  const int64_t holders = mesh.numRanks() / (shards * mesh.sizeOf(kept) * sharers);
  const int64_t messages = saturatingProduct(elems, mesh.sizeOf(ended) + holders - 2);
  return saturatingProduct(messages, reshard.elemBytes);
}

} // namespace coll::plan
