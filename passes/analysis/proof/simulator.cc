//===- simulator.cc - one agent's steps -----------------------------------------===//

#include "passes/analysis/proof/simulator.h"

#include <limits>
#include <utility>

using namespace mlir;
using namespace mlir::coll;

using Kind = TraceNode::Kind;

/// Loops of fewer trips run as they are.
static constexpr int64_t kMinParkedTrips = 4;
/// A while loop that counts further has no known trip count.
static constexpr int64_t kMaxCountedTrips = int64_t(1) << 20;
/// A proof is given up when each node of each agent has run this often on average, but not before
/// kMinMaxWork nodes have run in all.
static constexpr int64_t kMaxVisits = 4096;
static constexpr int64_t kMinMaxWork = int64_t(1) << 24;

LogicalResult RankSimulator::run() {
  states_.resize(agents_.size());
  queues_.resize(agents_.getQueues().size());
  for (unsigned agent = 0; agent < agents_.size(); ++agent) {
    const Trace &trace = agents_.getTrace(agent);
    states_[agent].slots.resize(trace.numSlots);
    states_[agent].requests.assign(trace.numRequests + 1, kIdle);
    maxWork_ += kMaxVisits * trace.numNodes;
    states_[agent].frames.push_back(Frame{&trace.body});
    ready_.push_back(agent);
  }
  maxWork_ = std::max(maxWork_, kMinMaxWork);
  while (true) {
    while (!ready_.empty()) {
      unsigned agent = ready_.front();
      ready_.pop_front();
      if (failed(advance(agent)))
        return failure();
    }
    if (!parkedAtLoop_.empty()) {
      skipRepeatedRounds();
      ready_.insert(ready_.end(), parkedAtLoop_.begin(), parkedAtLoop_.end());
      parkedAtLoop_.clear();
    } else if (!parkedAtLockstep_.empty()) {
      if (failed(stepLockstep()))
        return failure();
    } else {
      return reportStuck();
    }
  }
}

/// Runs `agent` until it is blocked, parked, or at its end.
LogicalResult RankSimulator::advance(unsigned agent) {
  State &state = states_[agent];
  while (!state.frames.empty()) {
    Frame &frame = state.frames.back();
    if (frame.next == frame.list->size()) {
      bool parked = false;
      finishList(agent, parked);
      if (parked)
        return success();
      continue;
    }
    bool moved = true;
    if (failed(execute(agent, (*frame.list)[frame.next], moved)))
      return failure();
    if (!moved)
      return success();
  }
  return success();
}

/// Whether `request` was complete, and is idle again; otherwise the agent blocks on it.
bool RankSimulator::finishRequest(unsigned agent, unsigned request) {
  State &state = states_[agent];
  bool isComplete = state.requests[request] == kComplete;
  if (isComplete)
    state.requests[request] = kIdle;
  else
    state.awaited = request;
  return isComplete;
}

/// Operations in flight learn which request they complete from now on.
void RankSimulator::moveRequests(unsigned agent, const TraceNode &node) {
  std::vector<unsigned> &requests = states_[agent].requests;
  SmallVector<unsigned, 4> held;
  for (auto [from, to] : node.moves)
    held.push_back(std::exchange(requests[from], kIdle));
  for (auto [move, value] : llvm::zip(node.moves, held)) {
    requests[move.second] = value;
    if (value != kIdle && value != kComplete)
      posts_[value].request = move.second;
  }
}

/// Executes the node that the top frame is at. `moved` is false if the agent must
/// stop here for now.
LogicalResult RankSimulator::execute(unsigned agent, const TraceNode &node, bool &moved) {
  if (++work_ > maxWork_)
    return reportTooMuchWork(node);
  State &state = states_[agent];
  size_t &next = state.frames.back().next;
  switch (node.kind) {
  case Kind::Run: {
    unsigned request = state.getBlocking();
    if (state.requests[request] == kIdle && failed(post(agent, *node.event, request)))
      return failure();
    moved = finishRequest(agent, request);
    next += moved;
    return success();
  }
  case Kind::Start:
    ++next;
    return post(agent, *node.event, node.request);
  case Kind::Wait:
    moved = finishRequest(agent, node.request);
    next += moved;
    return success();
  case Kind::Move:
    moveRequests(agent, node);
    ++next;
    return success();
  case Kind::Assign:
    assign(agent, node);
    ++next;
    return success();
  case Kind::Branch:
    ++next;
    return enterBranch(agent, node);
  case Kind::Loop: {
    ++next;
    bool parked = false;
    if (failed(enterLoop(agent, node, parked)))
      return failure();
    moved = !parked;
    return success();
  }
  case Kind::Lockstep:
    parkedAtLockstep_.push_back(agent);
    moved = false;
    return success();
  }
  llvm_unreachable("unknown kind of trace node");
}

void RankSimulator::assign(unsigned agent, const TraceNode &node) {
  State &state = states_[agent];
  SmallVector<RankValue> values;
  for (const auto &[slot, expr] : node.assignments)
    values.push_back(expr ? expr->evaluate(agents_.getRank(agent), state.slots) : std::nullopt);
  for (auto [assignment, value] : llvm::zip(node.assignments, values))
    state.slots[assignment.first] = value;
}

LogicalResult RankSimulator::enterBranch(unsigned agent, const TraceNode &node) {
  State &state = states_[agent];
  RankValue value = node.exprs[0].evaluate(agents_.getRank(agent), state.slots);
  if (!value)
    return node.op->emitError("rank ")
           << agents_.getRank(agent) << " cannot evaluate the condition";
  const auto *found = std::find(node.cases.data(), node.cases.data() + node.cases.size(), *value);
  size_t index = found - node.cases.data();
  size_t taken = index == node.cases.size() ? 0 : index + 1;
  state.frames.push_back(Frame{&node.bodies[taken]});
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<int64_t> RankSimulator::countWhile(unsigned agent, const CountedWhile &counted) {
  Words key = {reinterpret_cast<intptr_t>(&counted),
               counted.dependsOnRank() ? agents_.getRank(agent) : -1};
  for (RankValue value : states_[agent].slots)
    key.insert(key.end(), {value.has_value(), value.value_or(0)});
  auto [entry, isNew] = tripsOf_.try_emplace(std::move(key));
  if (isNew)
    entry->second = runWhile(agent, counted);
  return entry->second;
}

/// Runs the integers of the loop alone.
std::optional<int64_t> RankSimulator::runWhile(unsigned agent, const CountedWhile &counted) const {
  std::vector<RankValue> slots = states_[agent].slots;
  int64_t rank = agents_.getRank(agent);
  auto assignAll = [&](const std::vector<CountedWhile::Carry> &carries) {
    SmallVector<RankValue> values;
    for (const CountedWhile::Carry &carry : carries)
      values.push_back(carry.value.evaluate(rank, slots));
    for (auto [carry, value] : llvm::zip(carries, values))
      slots[carry.slot] = value;
  };
  assignAll(counted.init);
  for (int64_t trips = 0; trips < kMaxCountedTrips; ++trips) {
    RankValue condition = counted.condition->evaluate(rank, slots);
    if (!condition)
      return std::nullopt;
    if (*condition == 0)
      return trips;
    assignAll(counted.before);
    assignAll(counted.after);
  }
  return std::nullopt;
}

std::optional<int64_t> RankSimulator::countTrips(unsigned agent, const TraceNode &node,
                                                 Frame &frame) {
  if (node.counted)
    return countWhile(agent, *node.counted);
  int64_t bounds[3] = {};
  for (auto [expr, bound] : llvm::zip(node.exprs, bounds)) {
    RankValue value = expr.evaluate(agents_.getRank(agent), states_[agent].slots);
    if (!value)
      return std::nullopt;
    bound = *value;
  }
  if (bounds[2] <= 0)
    return std::nullopt;
  frame.first = bounds[0];
  frame.step = bounds[2];
  if (bounds[0] >= bounds[1])
    return 0;
  uint64_t distance = static_cast<uint64_t>(bounds[1]) - static_cast<uint64_t>(bounds[0]);
  uint64_t trips = (distance - 1) / static_cast<uint64_t>(bounds[2]) + 1;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  return trips > static_cast<uint64_t>(kMax) ? kMax : static_cast<int64_t>(trips);
}

LogicalResult RankSimulator::enterLoop(unsigned agent, const TraceNode &node, bool &parked) {
  State &state = states_[agent];
  Frame frame{&node.bodies[0]};
  frame.loop = &node;
  std::optional<int64_t> trips = countTrips(agent, node, frame);
  if (!trips)
    return node.op->emitError("rank ")
           << agents_.getRank(agent) << " cannot evaluate the trip count";
  frame.trips = *trips;
  if (frame.trips == 0)
    return success();
  if (node.inductionSlot)
    state.slots[*node.inductionSlot] = frame.first;
  state.frames.push_back(frame);
  parked = node.isUniform && frame.trips >= kMinParkedTrips;
  if (parked)
    parkedAtLoop_.push_back(agent);
  return success();
}

/// Ends the list of the top frame: the next round of its loop, or back to the frame
/// below.
void RankSimulator::finishList(unsigned agent, bool &parked) {
  State &state = states_[agent];
  Frame &frame = state.frames.back();
  if (!frame.loop || ++frame.iteration >= frame.trips) {
    state.frames.pop_back();
    return;
  }
  frame.next = 0;
  if (frame.loop->inductionSlot)
    state.slots[*frame.loop->inductionSlot] = frame.first + frame.iteration * frame.step;
  parked = frame.loop->isUniform && frame.trips >= kMinParkedTrips;
  if (parked)
    parkedAtLoop_.push_back(agent);
}
