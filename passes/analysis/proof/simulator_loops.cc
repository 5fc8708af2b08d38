//===- simulator_loops.cc - iterations that repeat ------------------------------===//

#include "passes/analysis/proof/simulator.h"

#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::coll;

/// Snapshots are dropped, oldest first, where there are more, or where they hold more words.
static constexpr size_t kMinHistory = 2, kMaxHistory = 256, kMaxHistoryWords = size_t(1) << 22;
/// The number of words that are encoded or compared in the time of one operation.
static constexpr int64_t kWordsPerOperation = 8;

/// Appends everything that decides how `agent` continues. Iterations of loops whose body does not
/// depend on them are kept apart.
void RankSimulator::encode(unsigned agent, Words &state, Words &iterations) const {
  const State &from = states_[agent];
  for (const Frame &frame : from.frames) {
    state.push_back(reinterpret_cast<intptr_t>(frame.list));
    state.insert(state.end(), {static_cast<int64_t>(frame.next), frame.trips, frame.first,
                               static_cast<int64_t>(frame.phase)});
    bool isFree = frame.loop && frame.loop->isUniform;
    state.push_back(isFree ? 0 : frame.iteration);
    iterations.push_back(isFree ? frame.iteration : 0);
  }
  state.push_back(-1);
  for (RankValue value : from.slots)
    state.insert(state.end(), {value.has_value(), value.value_or(0)});
  // If several operations are in flight, their order decides which of them match.
  SmallVector<unsigned> serials;
  for (unsigned request : from.requests)
    if (request != kIdle && request != kComplete)
      serials.push_back(posts_[request].serial);
  llvm::sort(serials);
  for (unsigned request : from.requests) {
    if (request == kIdle || request == kComplete) {
      state.push_back(request);
      continue;
    }
    const Post &post = posts_[request];
    state.insert(state.end(), {reinterpret_cast<intptr_t>(post.event), post.position,
                               llvm::lower_bound(serials, post.serial) - serials.begin()});
  }
}

RankSimulator::Snapshot RankSimulator::takeSnapshot() const {
  Snapshot snapshot;
  for (unsigned agent = 0; agent < agents_.size(); ++agent)
    encode(agent, snapshot.state, snapshot.iterations);
  snapshot.hash = llvm::hash_combine_range(snapshot.state.begin(), snapshot.state.end());
  return snapshot;
}

/// `now` has the state of `before`: repeats the part between them as long as no loop ends. Returns
/// false if the iterations do not advance evenly.
bool RankSimulator::skip(const Snapshot &before, const Snapshot &now) {
  size_t at = 0;
  int64_t rounds = -1;
  for (State &state : states_) {
    unsigned numAdvancing = 0;
    for (Frame &frame : state.frames) {
      int64_t delta = now.iterations[at] - before.iterations[at];
      ++at;
      if (delta == 0)
        continue;
      // An inner loop that is at another iteration would end after another number of rounds.
      if (delta < 0 || ++numAdvancing > 1)
        return false;
      int64_t possible = (frame.trips - 1 - frame.iteration) / delta;
      rounds = rounds < 0 ? possible : std::min(rounds, possible);
    }
  }
  if (rounds < 0)
    return false;
  at = 0;
  for (State &state : states_)
    for (Frame &frame : state.frames) {
      frame.iteration += rounds * (now.iterations[at] - before.iterations[at]);
      ++at;
    }
  return true;
}

/// Called when every agent is blocked, parked or at its end.
void RankSimulator::skipRepeatedRounds() {
  if (!history_.empty() &&
      work_ - workAtSnapshot_ <
          static_cast<int64_t>(history_.back().state.size() / kWordsPerOperation))
    return;
  workAtSnapshot_ = work_;
  Snapshot now = takeSnapshot();
  for (auto before = history_.rbegin(); before != history_.rend(); ++before) {
    if (before->hash != now.hash || before->state != now.state)
      continue;
    if (!skip(*before, now))
      before->iterations = std::move(now.iterations);
    return;
  }
  size_t words = now.state.size() + now.iterations.size();
  history_.push_back(std::move(now));
  while (history_.size() > kMinHistory &&
         (history_.size() > kMaxHistory || history_.size() * words > kMaxHistoryWords))
    history_.pop_front();
}

/// Only loops execute a node more than once. The outermost one that an agent is in says most.
LogicalResult RankSimulator::reportTooMuchWork(const TraceNode &node) const {
  std::string limit =
      "the proof was given up after " + formatCount(maxWork_) + " steps of all ranks";
  for (auto [agent, state] : llvm::enumerate(states_)) {
    auto isLoop = [](const Frame &frame) { return frame.loop != nullptr; };
    const Frame *frame = llvm::find_if(state.frames, isLoop);
    if (frame != state.frames.end())
      return frame->loop->op->emitError("communicates differently in each iteration, as far as was "
                                        "found: ")
             << limit << ", in iteration " << formatCount(frame->iteration + 1) << " of "
             << formatCount(frame->trips) << " on rank " << agents_.getRank(agent)
             << "; communicate in the same way in each iteration, or run fewer iterations";
  }
  return node.op->emitError("is reached after loops that communicate differently in each "
                            "iteration: ")
         << limit;
}

/// Every agent is blocked, at its end, or at a node whose bodies run any number of times, equally
/// often on all ranks. Each body is run once and must lead back to the state that it started from.
LogicalResult RankSimulator::stepLockstep() {
  std::vector<unsigned> parked = std::move(parkedAtLockstep_);
  parkedAtLockstep_.clear();
  std::vector<bool> isParked(agents_.size());
  for (unsigned agent : parked)
    isParked[agent] = true;
  llvm::sort(parked);
  const SmallVector<Frame, 3> &frames = states_[parked.front()].frames;
  auto isHere = [&](unsigned agent) {
    const SmallVector<Frame, 3> &other = states_[agent].frames;
    return isParked[agent] && frames.size() == other.size() &&
           llvm::all_of(llvm::zip(frames, other), [](const auto &pair) {
             const auto &[a, b] = pair;
             return a.list == b.list && a.next == b.next && a.iteration == b.iteration;
           });
  };
  for (unsigned agent = 0; agent < agents_.size(); ++agent)
    if (!isHere(agent))
      return reportApart(parked.front(), agent);

  const TraceNode &node = getNode(parked.front());
  unsigned phase = frames.back().phase;
  for (unsigned agent : parked)
    states_[agent].frames.back().phase = 0;
  Words state = takeSnapshot().state;
  if (phase == 0)
    lockstepStates_.push_back(std::move(state));
  else if (state != lockstepStates_.back())
    return node.op->emitError("an iteration of this control flow changes which operations are "
                              "in flight, and how often it runs is not known; await in the same "
                              "iteration what it starts");
  bool isDone = phase == node.bodies.size();
  if (isDone)
    lockstepStates_.pop_back();
  for (unsigned agent : parked) {
    Frame &frame = states_[agent].frames.back();
    frame.phase = isDone ? 0 : phase + 1;
    if (isDone)
      ++frame.next;
    else
      states_[agent].frames.push_back(Frame{&node.bodies[phase]});
    ready_.push_back(agent);
  }
  return success();
}
