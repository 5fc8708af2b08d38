#include "test/fuzz/ranks/explore.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

namespace coll::fuzz {
namespace {

using Kind = Action::Kind;

// One operation of one rank, without loops.
struct Step {
  Action action;
  int channel = -1;  // where it meets others
  int ordinal = 0;   // among the rank's operations on its side of the channel
  int start = -1;    // of a wait: the step that it waits for
  std::string fault; // what is wrong with the step by itself
};

// A pair of ranks and a tag, with a side for each direction, or the members of a group.
// sides[i][n] is the (rank, step) of the n-th operation of a side.
struct Channel {
  std::vector<std::vector<std::pair<int, int>>> sides;
};

class Explorer {
public:
  explicit Explorer(const Protocol &protocol) : protocol_(protocol) {
    for (int rank = 0; rank < protocol.numRanks(); ++rank) {
      flatten(rank);
    }
  }

  std::optional<std::string> run(size_t maxStates) {
    constexpr size_t kMaxSteps = 120; // of a rank: a state has a character for each count
    for (const std::vector<Step> &steps : steps_)
      if (steps.size() > kMaxSteps)
        return std::nullopt;
    // By rank: steps behind it, and whether the one it is at is posted. By channel: operations
    // that have met.
    State first(steps_.size() * 2 + channels_.size(), 0);
    std::vector<State> open = {first};
    std::unordered_set<State> seen = {first};
    while (!open.empty()) {
      State state = std::move(open.back());
      open.pop_back();
      std::vector<State> next = getNext(state);
      if (!fault_.empty())
        return fault_;
      if (next.empty() && !hasEnded(state))
        return "some order of steps hangs";
      for (State &other : next)
        if (seen.insert(other).second)
          open.push_back(std::move(other));
      if (seen.size() > maxStates)
        return std::nullopt;
    }
    return "";
  }

private:
  using State = std::string;

  int at(const State &state, int rank) const { return state[size_t(rank) * 2]; }
  bool isPosted(const State &state, std::pair<int, int> step) const {
    int here = at(state, step.first);
    return here > step.second || (here == step.second && state[size_t(step.first) * 2 + 1]);
  }
  size_t metAt(int channel) const { return steps_.size() * 2 + size_t(channel); }

  void flatten(int rank) {
    steps_.emplace_back();
    for (const Segment &segment : protocol_.classes[size_t(protocol_.classOf[size_t(rank)])]) {
      std::map<int, int> starts; // the newest step of a request
      for (const Action &start : segment.getCarried())
        addStep(rank, start, starts);
      for (int trip = 0; trip < segment.trips; ++trip)
        for (const Action &action : segment.actions)
          addStep(rank, action, starts);
      for (const Action &start : segment.getCarried()) {
        Action wait{Kind::Wait};
        wait.request = start.request;
        addStep(rank, wait, starts);
      }
    }
  }

  void addStep(int rank, const Action &action, std::map<int, int> &starts) {
    std::vector<Step> &steps = steps_[size_t(rank)];
    Step step;
    step.action = action;
    if (action.kind == Kind::Wait)
      step.start = starts[action.request];
    else
      join(rank, int(steps.size()), step);
    if (action.isStart())
      starts[action.request] = int(steps.size());
    steps.push_back(step);
  }

  void join(int rank, int number, Step &step) {
    const Action &action = step.action;
    std::tuple<int, int, int, int> key;
    int side = 0, sides = 2;
    if (action.kind == Kind::Reduce) {
      int stage = rank % protocol_.stages, replica = rank / protocol_.stages;
      int which = action.group == 0 ? replica : action.group == 1 ? stage : 0;
      side = action.group == 0 ? stage : action.group == 1 ? replica : rank;
      sides = action.group == 0   ? protocol_.stages
              : action.group == 1 ? protocol_.replicas
                                  : protocol_.numRanks();
      // Groups of equal members are one communicator.
      int group = action.group;
      if (group == 2 && (protocol_.replicas == 1 || protocol_.stages == 1))
        group = protocol_.replicas == 1 ? 0 : 1;
      key = {-1, group, which, 0};
    } else {
      int peer = protocol_.peerOf(rank, action);
      if (peer < 0) {
        step.fault = "there is no such peer";
        return;
      }
      side = action.isSend() ? 0 : 1;
      key = {action.isSend() ? rank : peer, action.isSend() ? peer : rank, action.tag, 1};
    }
    auto [entry, isNew] = channelOf_.try_emplace(key, int(channels_.size()));
    if (isNew)
      channels_.emplace_back().sides.resize(size_t(sides));
    auto &posts = channels_[size_t(entry->second)].sides[size_t(side)];
    step.channel = entry->second;
    step.ordinal = int(posts.size());
    posts.push_back({rank, number});
  }

  bool hasMet(const State &state, const Step &step) const {
    return state[metAt(step.channel)] > step.ordinal;
  }

  bool hasEnded(const State &state) const {
    for (size_t rank = 0; rank < steps_.size(); ++rank)
      if (at(state, int(rank)) < int(steps_[rank].size()))
        return false;
    return true;
  }

  std::vector<State> getNext(const State &state) {
    std::vector<State> next;
    for (size_t rank = 0; rank < steps_.size(); ++rank)
      stepRank(state, rank, next);
    for (size_t channel = 0; channel < channels_.size(); ++channel)
      meet(state, int(channel), next);
    return next;
  }

  void stepRank(const State &state, size_t rank, std::vector<State> &next) {
    int here = at(state, int(rank));
    if (here == int(steps_[rank].size()))
      return;
    const Step &step = steps_[rank][size_t(here)];
    if (!step.fault.empty()) {
      fault_ = step.fault;
      return;
    }
    bool isPosted = state[rank * 2 + 1];
    bool isWait = step.action.kind == Kind::Wait, isStart = step.action.isStart();
    State after = state;
    if (!isWait && !isStart && !isPosted) {
      after[rank * 2 + 1] = 1;
    } else {
      const Step &awaited = isWait ? steps_[rank][size_t(step.start)] : step;
      if (!isStart && !hasMet(state, awaited))
        return;
      ++after[rank * 2];
      after[rank * 2 + 1] = 0;
    }
    next.push_back(std::move(after));
  }

  // The oldest operations of a channel, if all sides have posted theirs.
  void meet(const State &state, int channel, std::vector<State> &next) {
    auto met = size_t(state[metAt(channel)]);
    std::vector<int> types;
    for (const auto &posts : channels_[size_t(channel)].sides) {
      if (posts.size() <= met || !isPosted(state, posts[met]))
        return;
      auto [rank, step] = posts[met];
      types.push_back(steps_[size_t(rank)][size_t(step)].action.type);
    }
    if (std::count(types.begin(), types.end(), types[0]) != std::ptrdiff_t(types.size())) {
      fault_ = "types of operations that meet differ";
      return;
    }
    State after = state;
    ++after[metAt(channel)];
    next.push_back(std::move(after));
  }

  const Protocol &protocol_;
  std::vector<std::vector<Step>> steps_; // by rank
  std::vector<Channel> channels_;
  std::map<std::tuple<int, int, int, int>, int> channelOf_;
  std::string fault_;
};

} // namespace

std::optional<std::string> explore(const Protocol &protocol, size_t maxStates) {
  return Explorer(protocol).run(maxStates);
}

} // namespace coll::fuzz
