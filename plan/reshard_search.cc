#include "plan/reshard.h"
#include "plan/reshard_bound.h"
#include "plan/reshard_space.h"
#include "plan/route_move.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace coll::plan {

namespace {

// States that are expanded before a plan that gathers is taken instead.
constexpr size_t kMostExpansions = 20000;
// In larger groups, a permute is taken to leave no part in place: few of their ranks keep theirs.
constexpr int64_t kMostCountedGroup = 256;

double costOfRoute(const Mesh &mesh, const CostModel &cost, const std::vector<int> &axes,
                   const MoveBytes &bytes) {
  const double mean = static_cast<double>(bytes.allRanks) / static_cast<double>(mesh.numRanks());
  return cost.costOfPieces({maskOf(axes), mean, bytes.most, bytes.rounds}, bytes.rounds);
}

// No route from `from` costs less: a rank whose block has elements of n blocks receives from n - 1.
double leastCostOfRoute(const Mesh &mesh, const Reshard &reshard, const Layout &from,
                        const CostModel &cost) {
  const int64_t bytes = leastWireBytes(mesh, {reshard.shape, reshard.elemBytes, from, reshard.to});
  int64_t blocks = 1;
  for (size_t d = 0; d < reshard.shape.size(); ++d) {
    // At the end of the dimension a block has less in it.
    const int64_t have = std::max<int64_t>(from.dims[d].block, 1);
    const int64_t want = std::min(reshard.to.dims[d].block, reshard.shape[d]);
    blocks = saturatingProduct(blocks, std::max<int64_t>(1, (want + have - 1) / have));
  }
  const auto rounds = static_cast<int>(std::clamp<int64_t>(blocks - 1, 1, kMostRoutedRanks - 1));
  return costOfRoute(mesh, cost, routedAxes(mesh, reshard.shape, from, reshard.to),
                     {bytes, bytes / mesh.numRanks(), rounds});
}

// What is to be said of a route in place of `plan`.
Routing routingOf(const Mesh &mesh, const Reshard &reshard, const CostModel &cost,
                  const MovePlan &plan) {
  if (plan.cost <= leastCostOfRoute(mesh, reshard, reshard.from, cost))
    return Routing::Slower;
  if (!canBeRouted(mesh, reshard.shape, reshard.from, reshard.to))
    return Routing::Impossible;
  return onlyReduces(mesh, reshard.from, reshard.to) ? Routing::Kept : Routing::Slower;
}

// Why `plan` sends more than the least bytes.
std::string reasonOf(const MovePlan &plan, const CostModel &cost) {
  std::string reason = plan.wireBytes - plan.paddingBytes == plan.leastBytes
                           ? "blocks travel with their padding"
                           : "collectives move whole blocks, and some elements more than once";
  if (plan.routing == Routing::Slower && cost.isByBytes() && std::isinf(cost.messageBytes()))
    return reason + "; nothing is routed";
  if (plan.routing == Routing::Slower)
    return reason + "; a route, which has more calls, takes longer " +
           (cost.isByBytes() ? "where a call counts as much as " +
                                   std::to_string(std::lround(cost.messageBytes() / 1e3)) + " KB"
                             : "by the topology");
  if (plan.routing == Routing::Kept)
    return reason + "; reductions stay collectives, which share calls with others";
  return reason;
}

// A* over the states of a reshard; the heuristic is the bound on the bytes that a rank still has to
// receive. Invariant: a state that leaves the queue has its least cost.
class Search {
public:
  Search(const Mesh &mesh, const Reshard &reshard, const CostModel &cost)
      : mesh_(mesh), reshard_(reshard), cost_(cost), perByte_(cost.leastPerByte()),
        space_(mesh, reshard, /*addsDimension=*/!cost.isByBytes()) {}

  // False where there are too many states.
  bool run(MovePlan &plan) {
    if (!space_.fits())
      return false;
    push(space_.source(), 0, -1, {});
    size_t expansions = 0;
    while (!queue_.empty()) {
      const Entry next = queue_.top();
      const size_t number = next.node;
      queue_.pop();
      if (next.isRoute) {
        route(number);
        continue;
      }
      if (nodes_[number].isDone)
        continue;
      nodes_[number].isDone = true;
      if (nodes_[number].state == space_.target()) {
        follow(number, plan);
        return true;
      }
      if (++expansions > kMostExpansions)
        return false;
      expand(number);
    }
    return false;
  }

private:
  struct Node {
    State state;
    double cost = 0, left = 0; // from the source, and to the target at least
    bool isDone = false;
    int64_t parent = -1;
    Step step; // from the parent
  };
  struct Entry {
    double cost = 0; // the least by way of the node
    size_t node = 0;
    bool isRoute = false; // from the node to the target
    bool operator>(const Entry &other) const {
      return std::tie(cost, node, isRoute) > std::tie(other.cost, other.node, other.isRoute);
    }
  };

  void push(const State &state, double cost, int64_t parent, const Step &step) {
    auto [entry, isNew] = numbers_.try_emplace(state, nodes_.size());
    if (isNew)
      nodes_.emplace_back();
    Node &node = nodes_[entry->second];
    if (isNew)
      node.left = perByte_ * space_.missingBytes(state);
    else if (node.cost <= cost)
      return;
    node.state = state;
    node.cost = cost;
    node.parent = parent;
    node.step = step;
    queue_.push({cost + node.left, entry->second, false});
  }

  void expand(size_t number) {
    const Node node = nodes_[number];
    // Two permutes in a row equal one.
    const bool permutes = node.parent < 0 || node.step.kind != MoveKind::Permute;
    space_.expand(node.state, permutes, [&](const Step &step) {
      push(step.to, node.cost + costOf(node.state, step), static_cast<int64_t>(number), step);
    });
    if (mayRoute(node))
      queue_.push(
          {node.cost + leastCostOfRoute(mesh_, reshard_, space_.layoutOf(node.state), cost_),
           number, true});
  }

  // A route moves all that has to be moved, so it follows nothing but reductions: all or none of
  // them, so that few routes have to be planned.
  bool mayRoute(const Node &node) const {
    const bool isReduced =
        node.parent >= 0 && space_.isReduced(node.state) &&
        (node.step.kind == MoveKind::AllReduce || node.step.kind == MoveKind::ReduceScatter);
    const bool follows = node.parent < 0 || isReduced;
    const Layout from = follows ? space_.layoutOf(node.state) : Layout();
    return follows && canBeRouted(mesh_, reshard_.shape, from, reshard_.to) &&
           !onlyReduces(mesh_, from, reshard_.to);
  }

  // A route is planned only where it may be the cheapest way.
  void route(size_t number) {
    Move move = planRoute(mesh_, reshard_.shape, reshard_.elemBytes,
                          space_.layoutOf(nodes_[number].state), reshard_.to);
    const MoveBytes bytes = bytesOfRoute(move, mesh_, reshard_.elemBytes);
    Step step;
    step.kind = MoveKind::Route;
    step.to = space_.target();
    push(step.to,
         nodes_[number].cost + cost_.localCost() + costOfRoute(mesh_, cost_, move.axes, bytes),
         static_cast<int64_t>(number), step);
    routes_[number] = std::move(move);
  }

  AxisList axesOf(const State &from, const Step &step) const {
    return step.kind == MoveKind::Permute ? space_.moved(from, step.to) : step.axes;
  }

  MoveBytes bytesOfStep(const State &from, const Step &step, const AxisList &axes) const {
    const int64_t size = space_.sizeOf(axes);
    int64_t kept = 0;
    if (step.kind == MoveKind::Permute && size <= kMostCountedGroup)
      kept = space_.countKept(from, step.to, axes);
    return bytesOf(step.kind, size, mesh_.numRanks(), step.localBytes, kept);
  }

  double costOf(const State &from, const Step &step) {
    if (step.kind == MoveKind::Slice || step.kind == MoveKind::MakePartial)
      return cost_.localCost();
    const AxisList axes = axesOf(from, step);
    const MoveBytes bytes = bytesOfStep(from, step, axes);
    return cost_.localCost() +
           cost_.cost({space_.meshMask(axes),
                       static_cast<double>(bytes.allRanks) / static_cast<double>(mesh_.numRanks()),
                       bytes.most, bytes.rounds});
  }

  void follow(size_t number, MovePlan &plan) {
    plan.cost = nodes_[number].cost;
    std::vector<size_t> path;
    for (auto at = static_cast<int64_t>(number); nodes_[static_cast<size_t>(at)].parent >= 0;
         at = nodes_[static_cast<size_t>(at)].parent)
      path.push_back(static_cast<size_t>(at));
    for (size_t i = path.size(); i-- > 0;) {
      const Node &node = nodes_[path[i]];
      if (node.step.kind == MoveKind::Route)
        plan.moves.push_back(std::move(routes_[static_cast<size_t>(node.parent)]));
      else
        add(nodes_[static_cast<size_t>(node.parent)].state, node.step, plan);
    }
  }

  void add(const State &from, const Step &step, MovePlan &plan) {
    const AxisList axes = axesOf(from, step);
    Move move;
    move.kind = step.kind;
    move.axes = space_.meshAxes(axes);
    move.split = space_.dimension(step.split);
    move.join = space_.dimension(step.join);
    move.result = space_.layoutOf(step.to);
    int64_t kept = 0;
    if (step.kind == MoveKind::Permute)
      move.pairs = pairsOf(from, step.to, axes, kept);
    move.wireBytes =
        bytesOf(step.kind, space_.sizeOf(axes), mesh_.numRanks(), step.localBytes, kept).allRanks;
    Move *last = plan.moves.empty() ? nullptr : &plan.moves.back();
    if (last && move.kind == MoveKind::Slice && last->kind == MoveKind::Slice &&
        last->split == move.split) {
      last->axes.insert(last->axes.end(), move.axes.begin(), move.axes.end());
      last->result = move.result;
      return;
    }
    plan.moves.push_back(std::move(move));
  }

  // A rank keeps its own part, even if other ranks have the part too.
  std::vector<int64_t> pairsOf(const State &from, const State &to, const AxisList &axes,
                               int64_t &kept) const {
    const std::vector<int64_t> have = space_.partsOf(from, axes), want = space_.partsOf(to, axes);
    // The ranks with each part that send it, ascending: the first one, and the one after each.
    const auto most = have.empty() ? -1 : *std::max_element(have.begin(), have.end());
    std::vector<int64_t> first(static_cast<size_t>(most + 1), -1), next(have.size(), -1);
    for (size_t i = have.size(); i-- > 0;) {
      if (have[i] == want[i])
        continue;
      int64_t &head = first[static_cast<size_t>(have[i])];
      next[i] = head;
      head = static_cast<int64_t>(i);
    }
    std::vector<int64_t> pairs;
    pairs.reserve(2 * want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      auto source = static_cast<int64_t>(i);
      if (have[i] == want[i]) {
        ++kept;
      } else {
        int64_t &head = first[static_cast<size_t>(want[i])];
        source = head;
        head = next[static_cast<size_t>(source)];
      }
      pairs.push_back(source);
      pairs.push_back(static_cast<int64_t>(i));
    }
    return pairs;
  }

  const Mesh &mesh_;
  const Reshard &reshard_;
  const CostModel &cost_;
  double perByte_;
  Space space_;
  std::vector<Node> nodes_;
  std::unordered_map<State, size_t, StateHash> numbers_;
  std::unordered_map<size_t, Move> routes_; // by the node that they leave
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// Combines, then gathers, then slices everything that has to change: a plan for layouts that are
// too large to be searched.
MovePlan gatherThenSlice(const Mesh &mesh, const Reshard &reshard, const CostModel &cost) {
  MovePlan plan;
  Layout layout = reshard.from;
  auto add = [&](MoveKind kind, std::vector<int> axes, int split, int join, Layout result) {
    const MoveBytes bytes =
        bytesOf(kind, mesh.sizeOf(axes), mesh.numRanks(),
                saturatingProduct(localElems(layout), reshard.elemBytes), /*kept=*/0);
    plan.cost += cost.localCost();
    if (kind != MoveKind::Slice && kind != MoveKind::MakePartial)
      plan.cost += cost.cost(
          {maskOf(axes), static_cast<double>(bytes.allRanks) / static_cast<double>(mesh.numRanks()),
           bytes.most, bytes.rounds});
    layout = result;
    plan.moves.push_back(
        {kind, std::move(axes), split, join, {}, {}, {}, std::move(result), bytes.allRanks});
  };
  const std::vector<int> ended = without(layout.partial, reshard.to.partial);
  if (!ended.empty()) {
    Layout next = layout;
    next.partial = without(layout.partial, ended);
    add(MoveKind::AllReduce, ended, -1, -1, next);
  }
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    if (layout.dims[d].axes.empty() || layout.dims[d] == reshard.to.dims[d])
      continue;
    Layout next = layout;
    next.dims[d] = {{}, reshard.shape[d]};
    add(MoveKind::AllGather, layout.dims[d].axes, -1, static_cast<int>(d), next);
  }
  for (size_t d = 0; d < layout.dims.size(); ++d) {
    if (layout.dims[d] == reshard.to.dims[d])
      continue;
    Layout next = layout;
    next.dims[d] = reshard.to.dims[d];
    add(MoveKind::Slice, next.dims[d].axes, static_cast<int>(d), -1, next);
  }
  if (const std::vector<int> added = without(reshard.to.partial, layout.partial); !added.empty())
    add(MoveKind::MakePartial, added, -1, -1, reshard.to);
  return plan;
}

} // namespace

MovePlan searchMoves(const Mesh &mesh, const Reshard &reshard, const CostModel &cost) {
  MovePlan plan;
  if (!Search(mesh, reshard, cost).run(plan))
    plan = gatherThenSlice(mesh, reshard, cost);
  for (const Move &move : plan.moves)
    plan.wireBytes += std::min(move.wireBytes, INT64_MAX - plan.wireBytes);
  plan.paddingBytes = paddingBytes(mesh, reshard, plan.moves);
  plan.leastBytes = leastWireBytes(mesh, reshard);
  if (plan.wireBytes > plan.leastBytes) {
    plan.routing = routingOf(mesh, reshard, cost, plan);
    plan.reason = reasonOf(plan, cost);
  }
  return plan;
}

} // namespace coll::plan
