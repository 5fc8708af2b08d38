#include "plan/reshard_bound.h"

#include <algorithm>

namespace coll::plan {

namespace {

struct Interval {
  int64_t begin = 0, end = 0;
};

// The valid elements of a block, by the coordinates along the mesh's axes.
Interval blockOf(const Mesh &mesh, const Split &split, int64_t extent,
                 const std::vector<int64_t> &coordinates) {
  int64_t index = 0;
  for (int axis : split.axes)
    index =
        index * mesh.axes[static_cast<size_t>(axis)].size + coordinates[static_cast<size_t>(axis)];
  const int64_t begin = std::min(extent, saturatingProduct(index, split.block));
  return {begin, begin + std::min(split.block, extent - begin)};
}

// Dimensions that share axes, and these axes. The part of these dimensions that a rank has depends
// on its coordinates along these axes alone.
struct Component {
  std::vector<size_t> dims;
  std::vector<int> axes;
};

std::vector<Component> componentsOf(const Reshard &reshard) {
  std::vector<Component> components;
  for (size_t d = 0; d < reshard.shape.size(); ++d) {
    Component joined;
    joined.dims = {d};
    for (const Split *split : {&reshard.from.dims[d], &reshard.to.dims[d]})
      for (int axis : split->axes)
        if (!contains(joined.axes, axis))
          joined.axes.push_back(axis);
    for (size_t i = 0; i < components.size();) {
      Component &other = components[i];
      const std::vector<int> added = without(other.axes, joined.axes);
      if (added.size() == other.axes.size()) {
        ++i;
        continue;
      }
      joined.dims.insert(joined.dims.end(), other.dims.begin(), other.dims.end());
      joined.axes.insert(joined.axes.end(), added.begin(), added.end());
      components.erase(components.begin() + static_cast<std::ptrdiff_t>(i));
    }
    components.push_back(std::move(joined));
  }
  return components;
}

struct Count {
  int64_t wanted = 0, held = 0;
};

// Summed over all coordinates along the component's axes.
Count countOf(const Mesh &mesh, const Reshard &reshard, const Component &component) {
  Count count;
  std::vector<int64_t> coordinates(mesh.axes.size());
  for (int64_t left = mesh.sizeOf(component.axes); left > 0; --left) {
    int64_t want = 1, have = 1;
    for (size_t d : component.dims) {
      const Interval to = blockOf(mesh, reshard.to.dims[d], reshard.shape[d], coordinates);
      const Interval from = blockOf(mesh, reshard.from.dims[d], reshard.shape[d], coordinates);
      want = saturatingProduct(want, to.end - to.begin);
      have = saturatingProduct(
          have, std::max<int64_t>(0, std::min(to.end, from.end) - std::max(to.begin, from.begin)));
    }
    count.wanted += std::min(want, INT64_MAX - count.wanted);
    count.held += std::min(have, INT64_MAX - count.held);
    for (int axis : component.axes) {
      int64_t &coordinate = coordinates[static_cast<size_t>(axis)];
      if (++coordinate < mesh.axes[static_cast<size_t>(axis)].size)
        break;
      coordinate = 0;
    }
  }
  return count;
}

// The ranks that hold the same part, and want the same one.
int64_t copiesOf(const Mesh &mesh, const Reshard &reshard) {
  int64_t copies = mesh.numRanks();
  for (const Component &component : componentsOf(reshard))
    copies /= mesh.sizeOf(component.axes);
  return copies;
}

// The number of elements that all ranks want together, and how many of them they hold already.
Count countWanted(const Mesh &mesh, const Reshard &reshard) {
  Count all{1, 1};
  const int64_t others = copiesOf(mesh, reshard);
  for (const Component &component : componentsOf(reshard)) {
    const Count count = countOf(mesh, reshard, component);
    all.wanted = saturatingProduct(all.wanted, count.wanted);
    all.held = saturatingProduct(all.held, count.held);
  }
  return {saturatingProduct(all.wanted, others), saturatingProduct(all.held, others)};
}

bool isPadded(const Mesh &mesh, const std::vector<int64_t> &shape, const Layout &layout) {
  for (size_t d = 0; d < shape.size(); ++d)
    if (saturatingProduct(layout.dims[d].block, mesh.sizeOf(layout.dims[d].axes)) != shape[d])
      return true;
  return false;
}

// Elements of the blocks that a permute takes to other ranks.
int64_t permutedElems(const Mesh &mesh, const std::vector<int64_t> &shape, const Move &permute) {
  std::vector<bool> moves(static_cast<size_t>(mesh.sizeOf(permute.axes)));
  for (size_t i = 0; i + 1 < permute.pairs.size(); i += 2)
    moves[static_cast<size_t>(permute.pairs[i + 1])] = permute.pairs[i] != permute.pairs[i + 1];
  std::vector<int64_t> coordinates(mesh.axes.size());
  int64_t elems = 0;
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    for (size_t axis = 0; axis < coordinates.size(); ++axis)
      coordinates[axis] = mesh.coordinate(rank, static_cast<int>(axis));
    int64_t position = 0, block = 1;
    for (int axis : permute.axes)
      position = position * mesh.axes[static_cast<size_t>(axis)].size +
                 coordinates[static_cast<size_t>(axis)];
    for (size_t d = 0; d < shape.size(); ++d) {
      const Interval to = blockOf(mesh, permute.result.dims[d], shape[d], coordinates);
      block = saturatingProduct(block, to.end - to.begin);
    }
    if (moves[static_cast<size_t>(position)])
      elems += std::min(block, INT64_MAX - elems);
  }
  return elems;
}

// Elements of the tensor that a move sends, by all ranks together.
int64_t validElems(const Mesh &mesh, const Reshard &reshard, const Layout &before,
                   const Move &move) {
  const int64_t n = mesh.sizeOf(move.axes);
  const Count count = countWanted(mesh, {reshard.shape, reshard.elemBytes, before, move.result});
  switch (move.kind) {
  case MoveKind::Slice:
  case MoveKind::MakePartial:
    return 0;
  case MoveKind::AllGather:
  case MoveKind::AllToAll: // a rank receives what it does not hold of its new block
    return count.wanted - count.held;
  case MoveKind::ReduceScatter:
    return saturatingProduct(count.wanted, n - 1);
  case MoveKind::AllReduce:
    return saturatingProduct(count.wanted / n, 2 * (n - 1));
  case MoveKind::Route: // carries no padding
    return move.wireBytes / reshard.elemBytes;
  case MoveKind::Permute:
    return permutedElems(mesh, reshard.shape, move);
  }
  return 0;
}

} // namespace

int64_t paddingBytes(const Mesh &mesh, const Reshard &reshard, const std::vector<Move> &moves) {
  bool hasPadding = isPadded(mesh, reshard.shape, reshard.from);
  for (const Move &move : moves)
    hasPadding |= isPadded(mesh, reshard.shape, move.result);
  if (!hasPadding)
    return 0;
  int64_t padding = 0;
  const Layout *before = &reshard.from;
  for (const Move &move : moves) {
    const int64_t valid =
        saturatingProduct(validElems(mesh, reshard, *before, move), reshard.elemBytes);
    padding += std::min(move.wireBytes - valid, INT64_MAX - padding);
    before = &move.result;
  }
  return padding;
}

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
    const Count all = countWanted(mesh, reshard);
    return saturatingProduct(all.wanted / sharers - all.held / copies, reshard.elemBytes);
  }
  int64_t elems = mesh.sizeOf(kept), shards = 1;
  for (size_t d = 0; d < reshard.shape.size(); ++d) {
    elems = saturatingProduct(elems, reshard.shape[d]);
    shards = saturatingProduct(shards, mesh.sizeOf(reshard.to.dims[d].axes));
  }
  const int64_t holders = mesh.numRanks() / (shards * mesh.sizeOf(kept) * sharers);
  // Elements to which a rank that wants the result holds a contribution. Ranks that hold and want
  // the same differ along axes that no dimension is split over.
  const int64_t met = saturatingProduct(mesh.sizeOf(kept),
                                        countWanted(mesh, reshard).held / copiesOf(mesh, reshard));
  const int64_t messages = saturatingProduct(elems, mesh.sizeOf(ended) + holders - 1) - met;
  return saturatingProduct(messages, reshard.elemBytes);
}

} // namespace coll::plan
