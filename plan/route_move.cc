#include "plan/route_move.h"

#include "plan/message_rounds.h"
#include "plan/reshard_bound.h"
#include "plan/routes.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

namespace coll::plan {

namespace {

bool isEven(const Mesh &mesh, const Split &split, int64_t extent) {
  return saturatingProduct(split.block, mesh.sizeOf(split.axes)) == extent;
}

std::vector<int64_t> difference(const std::vector<int64_t> &a, const std::vector<int64_t> &b) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < a.size(); ++i)
    result.push_back(a[i] - b[i]);
  return result;
}

// Along axes that are not routed all ranks do the same: those that stand here have coordinate 0.
class RoutePlanner {
public:
  RoutePlanner(const Mesh &mesh, const std::vector<int64_t> &shape, int64_t elemBytes,
               const Layout &from, const Layout &to, const std::vector<int> &axes)
      : mesh_(mesh), shape_(shape), elemBytes_(elemBytes),
        ended_(without(from.partial, to.partial)), ranks_(mesh.sizeOf(axes)) {
    std::vector<int64_t> coordinates(mesh.axes.size());
    for (int64_t position = 0; position < ranks_; ++position) {
      int64_t rest = position;
      for (size_t i = axes.size(); i-- > 0;) {
        const int64_t size = mesh.axes[static_cast<size_t>(axes[i])].size;
        coordinates[static_cast<size_t>(axes[i])] = rest % size;
        rest /= size;
      }
      held_.push_back(blockOf(from, coordinates));
      wanted_.push_back(blockOf(to, coordinates));
      contribution_.push_back(indexAlong(ended_, coordinates));
    }
  }

  std::vector<RouteRound> rounds() const {
    RouteSpec spec;
    spec.shape = shape_;
    spec.elemBytes = elemBytes_;
    for (int64_t rank = 0; rank < ranks_; ++rank) {
      spec.senders.push_back({static_cast<int>(rank), held_[static_cast<size_t>(rank)]});
      spec.receivers.push_back({static_cast<int>(rank), wanted_[static_cast<size_t>(rank)]});
    }
    const Result<RoutePlan> plan = planRoutes(spec);
    assert(plan.ok() && "the blocks of a layout cover the tensor");
    std::vector<SizedPiece> pieces;
    for (const Route &route : plan->routes)
      for (const Region &region : route.regions)
        pieces.push_back({region.extent,
                          {route.sender, route.receiver, startIn(held_, route.sender, region),
                           startIn(wanted_, route.receiver, region)}});
    return roundsOf(ranks_, pieces);
  }

  std::vector<RoutedSum> sums() {
    sent_.assign(static_cast<size_t>(ranks_), 0);
    summed_.assign(static_cast<size_t>(ranks_), 0);
    // The elements that the same ranks hold and the same ranks want.
    const std::vector<Sharers> holders = sharersOf(held_), targets = sharersOf(wanted_);
    for (const Sharers &held : holders)
      for (const Sharers &wanted : targets)
        if (const Region cell = intersect(*held.block, *wanted.block); volume(cell) > 0)
          addCell(cell, held.ranks, wanted.ranks);
    std::vector<RoutedSum> sums;
    for (const auto &[extent, pieces] : pieces_)
      sums.push_back(
          {extent, pieces.cells, roundsOf(ranks_, pieces.in), roundsOf(ranks_, pieces.out)});
    return sums;
  }

private:
  struct Pieces {
    int64_t cells = 0; // of the rank with most
    std::map<int64_t, int64_t> cellsOf;
    std::vector<SizedPiece> in, out;
  };

  int64_t indexAlong(const std::vector<int> &axes, const std::vector<int64_t> &coordinates) const {
    int64_t index = 0;
    for (int axis : axes)
      index = index * mesh_.axes[static_cast<size_t>(axis)].size +
              coordinates[static_cast<size_t>(axis)];
    return index;
  }

  // The valid elements.
  Region blockOf(const Layout &layout, const std::vector<int64_t> &coordinates) const {
    Region region;
    for (size_t d = 0; d < shape_.size(); ++d) {
      const Split &split = layout.dims[d];
      const int64_t begin =
          std::min(shape_[d], saturatingProduct(indexAlong(split.axes, coordinates), split.block));
      region.begin.push_back(begin);
      region.extent.push_back(std::min(split.block, shape_[d] - begin));
    }
    return region;
  }

  static std::vector<int64_t> startIn(const std::vector<Region> &blocks, int64_t rank,
                                      const Region &region) {
    return difference(region.begin, blocks[static_cast<size_t>(rank)].begin);
  }

  // Ranks that have the same block, ascending.
  struct Sharers {
    const Region *block;
    std::vector<int64_t> ranks;
  };

  static std::vector<Sharers> sharersOf(const std::vector<Region> &blocks) {
    std::map<std::vector<int64_t>, Sharers> byBegin;
    for (size_t rank = 0; rank < blocks.size(); ++rank) {
      if (volume(blocks[rank]) == 0)
        continue;
      Sharers &sharers = byBegin[blocks[rank].begin];
      sharers.block = &blocks[rank];
      sharers.ranks.push_back(static_cast<int64_t>(rank));
    }
    std::vector<Sharers> result;
    for (auto &[begin, sharers] : byBegin)
      result.push_back(std::move(sharers));
    return result;
  }

  // The ranks that combine contributions share the cell.
  void addCell(const Region &cell, const std::vector<int64_t> &holders,
               const std::vector<int64_t> &targets) {
    std::vector<int64_t> roots;
    std::set_intersection(holders.begin(), holders.end(), targets.begin(), targets.end(),
                          std::back_inserter(roots));
    if (roots.empty())
      roots = targets;
    std::sort(roots.begin(), roots.end(), [&](int64_t a, int64_t b) {
      return std::pair(summed_[static_cast<size_t>(a)], a) <
             std::pair(summed_[static_cast<size_t>(b)], b);
    });
    const std::vector<Region> parts = cut(cell, static_cast<int64_t>(roots.size()));
    for (size_t i = 0; i < parts.size(); ++i)
      addPart(parts[i], holders, targets, roots[i]);
  }

  // At most `count` parts of one shape, but for the last one; along a dimension that divides
  // evenly, if there is one.
  static std::vector<Region> cut(const Region &cell, int64_t count) {
    size_t along = 0;
    for (size_t d = 0; d < cell.extent.size(); ++d) {
      const auto key = [&](size_t dim) {
        return std::tuple(cell.extent[dim] % count == 0, cell.extent[dim]);
      };
      if (key(d) > key(along))
        along = d;
    }
    const int64_t extent = cell.extent[along], part = (extent + count - 1) / count;
    std::vector<Region> parts;
    for (int64_t begin = 0; begin < extent; begin += part) {
      Region &region = parts.emplace_back(cell);
      region.begin[along] += begin;
      region.extent[along] = std::min(part, extent - begin);
    }
    return parts;
  }

  void addPart(const Region &part, const std::vector<int64_t> &holders,
               const std::vector<int64_t> &targets, int64_t root) {
    Pieces &pieces = pieces_[part.extent];
    const int64_t cell = pieces.cellsOf[root]++;
    pieces.cells = std::max(pieces.cells, cell + 1);
    summed_[static_cast<size_t>(root)] += volume(part);
    for (int64_t i = 0; i < mesh_.sizeOf(ended_); ++i) {
      const int64_t source = holderOf(i, holders, root);
      sent_[static_cast<size_t>(source)] += source == root ? 0 : volume(part);
      pieces.in.push_back({part.extent, {source, root, startIn(held_, source, part), {i, cell}}});
    }
    for (int64_t target : targets)
      pieces.out.push_back({part.extent, {root, target, {cell}, startIn(wanted_, target, part)}});
  }

  // The rank that gives contribution `i`: the root itself, or who has sent least.
  int64_t holderOf(int64_t i, const std::vector<int64_t> &holders, int64_t root) const {
    int64_t best = -1;
    for (int64_t rank : holders) {
      if (contribution_[static_cast<size_t>(rank)] != i)
        continue;
      if (rank == root)
        return rank;
      if (best < 0 || sent_[static_cast<size_t>(rank)] < sent_[static_cast<size_t>(best)])
        best = rank;
    }
    return best;
  }

  const Mesh &mesh_;
  const std::vector<int64_t> &shape_;
  int64_t elemBytes_;
  std::vector<int> ended_;
  int64_t ranks_;
  // By position in the group.
  std::vector<Region> held_, wanted_;
  std::vector<int64_t> contribution_;
  std::vector<int64_t> sent_, summed_;            // elements
  std::map<std::vector<int64_t>, Pieces> pieces_; // by the shape of the parts
};

template <typename F>
void eachRound(const Move &route, F visit) {
  for (const RouteRound &round : route.rounds)
    visit(round);
  for (const RoutedSum &sum : route.sums)
    for (const std::vector<RouteRound> *rounds : {&sum.in, &sum.out})
      for (const RouteRound &round : *rounds)
        visit(round);
}

} // namespace

std::vector<int> routedAxes(const Mesh &mesh, const std::vector<int64_t> &shape, const Layout &from,
                            const Layout &to) {
  std::vector<int> axes, idle;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Split &have = from.dims[d], &want = to.dims[d];
    // Where blocks are even, leading axes that both have in common divide the exchange.
    size_t common = 0;
    if (isEven(mesh, have, shape[d]) && isEven(mesh, want, shape[d]))
      while (common < std::min(have.axes.size(), want.axes.size()) &&
             have.axes[common] == want.axes[common])
        ++common;
    idle.insert(idle.end(), have.axes.begin(),
                have.axes.begin() + static_cast<std::ptrdiff_t>(common));
    for (const Split *split : {&have, &want})
      axes.insert(axes.end(), split->axes.begin() + static_cast<std::ptrdiff_t>(common),
                  split->axes.end());
  }
  if (from.partial != to.partial) { // ranks that hold the same contributions share the work
    idle.insert(idle.end(), to.partial.begin(), to.partial.end());
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis)
      if (!contains(idle, static_cast<int>(axis)) && mesh.axes[axis].size > 1)
        axes.push_back(static_cast<int>(axis));
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

bool canBeRouted(const Mesh &mesh, const std::vector<int64_t> &shape, const Layout &from,
                 const Layout &to) {
  int64_t most = 16 * kMostRoutedRanks; // bytes of an element on all ranks
  for (int64_t extent : shape)
    most = saturatingProduct(most, extent);
  return !shape.empty() && most < INT64_MAX && without(to.partial, from.partial).empty() &&
         mesh.sizeOf(routedAxes(mesh, shape, from, to)) <= kMostRoutedRanks &&
         leastWireBytes(mesh, {shape, 1, from, to}) > 0;
}

bool onlyReduces(const Mesh &mesh, const Layout &from, const Layout &to) {
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const Split &have = from.dims[d], &want = to.dims[d];
    const bool isPrefix =
        have.axes.size() <= want.axes.size() &&
        std::equal(have.axes.begin(), have.axes.end(), want.axes.begin()) &&
        (have.axes.empty() || saturatingProduct(have.block, mesh.sizeOf(have.axes)) ==
                                  saturatingProduct(want.block, mesh.sizeOf(want.axes)));
    if (!isPrefix)
      return false;
  }
  return from.partial != to.partial;
}

Move planRoute(const Mesh &mesh, const std::vector<int64_t> &shape, int64_t elemBytes,
               const Layout &from, const Layout &to) {
  Move move;
  move.kind = MoveKind::Route;
  move.axes = routedAxes(mesh, shape, from, to);
  move.result = to;
  RoutePlanner planner(mesh, shape, elemBytes, from, to, move.axes);
  if (from.partial == to.partial)
    move.rounds = planner.rounds();
  else
    move.sums = planner.sums();
  move.wireBytes = bytesOfRoute(move, mesh, elemBytes).allRanks;
  return move;
}

MoveBytes bytesOfRoute(const Move &route, const Mesh &mesh, int64_t elemBytes) {
  const int64_t ranks = mesh.sizeOf(route.axes);
  MoveBytes bytes;
  std::vector<int64_t> sent(static_cast<size_t>(ranks));
  eachRound(route, [&](const RouteRound &round) {
    int64_t size = elemBytes;
    for (int64_t extent : round.extent)
      size = saturatingProduct(size, extent);
    for (const RoutePiece &piece : round.pieces)
      if (piece.source != piece.target)
        sent[static_cast<size_t>(piece.source)] += size;
    bytes.rounds += round.sends;
  });
  for (int64_t each : sent) {
    bytes.allRanks += each;
    bytes.most = std::max(bytes.most, each);
  }
  bytes.allRanks = saturatingProduct(bytes.allRanks, mesh.numRanks() / ranks);
  return bytes;
}

} // namespace coll::plan
