#include "plan/reshard.h"
#include "plan/reshard_bound.h"
#include "plan/reshard_space.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace coll::plan {

namespace {

// States that are expanded before a plan that gathers is taken instead.
constexpr size_t kMostExpansions = 20000;
// In larger groups, a permute is taken to leave no part in place: few of their ranks keep theirs.
constexpr int64_t kMostCountedGroup = 256;

// A* over the states of a reshard; the heuristic is the bound on the bytes that a rank still has to
// receive. Invariant: a state that leaves the queue has its least cost.
class Search {
public:
  Search(const Mesh &mesh, const Reshard &reshard, const CostModel &cost)
      : mesh_(mesh), cost_(cost), space_(mesh, reshard, /*addsDimension=*/!cost.isByBytes()) {}

  // False where there are too many states.
  bool run(MovePlan &plan) {
    if (!space_.fits())
      return false;
    push(space_.source(), 0, -1, {});
    size_t expansions = 0;
    while (!queue_.empty()) {
      const size_t number = queue_.top().second;
      queue_.pop();
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
  using Entry = std::pair<double, size_t>; // least cost by way of the node, node

  void push(const State &state, double cost, int64_t parent, const Step &step) {
    auto [entry, isNew] = numbers_.try_emplace(state, nodes_.size());
    if (isNew)
      nodes_.emplace_back();
    Node &node = nodes_[entry->second];
    if (isNew)
      node.left = cost_.isByBytes() ? space_.missingBytes(state) : 0;
    else if (node.cost <= cost)
      return;
    node.state = state;
    node.cost = cost;
    node.parent = parent;
    node.step = step;
    queue_.push({cost + node.left, entry->second});
  }

  void expand(size_t number) {
    const Node node = nodes_[number];
    // Two permutes in a row equal one.
    const bool permutes = node.parent < 0 || node.step.kind != MoveKind::Permute;
    space_.expand(node.state, permutes, [&](const Step &step) {
      push(step.to, node.cost + costOf(node.state, step), static_cast<int64_t>(number), step);
    });
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
  const CostModel &cost_;
  Space space_;
  std::vector<Node> nodes_;
  std::unordered_map<State, size_t, StateHash> numbers_;
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
        {kind, std::move(axes), split, join, {}, std::move(result), bytes.allRanks});
  };
  auto without = [](const std::vector<int> &axes, const std::vector<int> &others) {
    std::vector<int> rest;
    for (int axis : axes)
      if (std::find(others.begin(), others.end(), axis) == others.end())
        rest.push_back(axis);
    return rest;
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
  return plan;
}

} // namespace coll::plan
