//===- rank_simulator.h - one maximal execution of the traces ---------*- C++ -*-===//
//
// Sends are rendezvous, there are no wildcards, and operations are posted in program
// order: per communicator and stream for collectives, per communicator, tag and pair
// for sends and receives. So who meets whom does not depend on timing, and one
// execution that runs until no rank can move decides for all.
//
// A loop is not unrolled where two visits of its head find the same state (positions,
// variables, operations in flight): all further rounds would do the same.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_RANK_SIMULATOR_H
#define COLL_PASSES_ANALYSIS_RANK_SIMULATOR_H

#include "passes/analysis/rank_agents.h"

#include <deque>

namespace mlir::coll {

class RankSimulator {
public:
  RankSimulator(const TraceContext &context, const AgentSet &agents, StringRef function)
      : context_(context), agents_(agents), function_(function) {}

  /// Runs every agent to its end. Emits an error for the first mismatch, or for a wait
  /// that never ends.
  LogicalResult run();

private:
  /// Where operations meet. A collective channel counts complete instances; a channel
  /// of a pair counts matched pairs.
  struct Channel {
    struct Pending {
      const CommEvent *event;
      unsigned agent;
      unsigned numPosted;
    };
    unsigned numMembers = 2;
    int64_t numComplete = 0;
    int64_t numSends = 0, numRecvs = 0;
    std::deque<Pending> pending;
    SmallVector<unsigned> waiters;
  };
  /// An operation that an agent posted.
  struct Post {
    const CommEvent *event;
    unsigned channel;
    int64_t sequence;
    int64_t peer; // global rank, or -1
  };
  struct Frame {
    const TraceList *list;
    size_t next = 0;
    const TraceNode *loop = nullptr;
    int64_t iteration = 0, trips = 0, first = 0, step = 0;
    unsigned phase = 0; // bodies of a lockstep node that are done
  };
  struct State {
    SmallVector<Frame, 4> frames;
    std::vector<RankValue> slots;
    std::vector<std::optional<Post>> requests;
    std::optional<Post> running;
    bool isBlocked = false;
    DenseMap<unsigned, int64_t> numPosted; // by collective channel
  };
  using Words = std::vector<int64_t>;
  struct Snapshot {
    Words state;
    Words iterations;
  };

  // rank_simulator.cc: one agent's steps
  LogicalResult advance(unsigned agent);
  LogicalResult execute(unsigned agent, const TraceNode &node, bool &moved);
  void finishList(unsigned agent, bool &parked);
  LogicalResult enterLoop(unsigned agent, const TraceNode &node, bool &parked);
  LogicalResult enterBranch(unsigned agent, const TraceNode &node);
  void assign(unsigned agent, const TraceNode &node);
  std::optional<int64_t> countTrips(unsigned agent, const TraceNode &node, Frame &frame);
  std::optional<int64_t> countWhile(unsigned agent, const CountedWhile &counted);
  std::optional<int64_t> runWhile(unsigned agent, const CountedWhile &counted) const;
  bool isComplete(const Post &post) const {
    return post.sequence < channels_[post.channel].numComplete;
  }
  bool waitFor(unsigned agent, const Post &post);

  // rank_simulator_match.cc: posts
  FailureOr<Post> post(unsigned agent, const CommEvent &event);
  FailureOr<Post> postCollective(unsigned agent, const CommEvent &event, int comm);
  FailureOr<Post> postPointToPoint(unsigned agent, const CommEvent &event);
  FailureOr<int64_t> getPeer(unsigned agent, const CommEvent &event);
  unsigned getChannel(std::vector<int64_t> key, unsigned numMembers);
  void complete(Channel &channel);

  // rank_simulator_loops.cc: rounds that repeat
  LogicalResult stepLockstep();
  void skipRepeatedRounds();
  void encode(unsigned agent, Words &state, Words &iterations) const;
  Snapshot takeSnapshot() const;
  bool skip(const Snapshot &before, const Snapshot &now);

  // rank_simulator_report.cc: what went wrong
  LogicalResult reportMismatch(unsigned agent, const CommEvent &event,
                               const Channel::Pending &first, int comm);
  LogicalResult reportStuck();
  LogicalResult reportCycle(ArrayRef<unsigned> cycle);
  LogicalResult reportEnded(unsigned agent, unsigned ended);
  LogicalResult reportApart(unsigned agent, unsigned other);
  const TraceNode &getNode(unsigned agent) const;
  const Post &getAwaited(unsigned agent) const;
  unsigned getAwaitedAgent(unsigned agent) const;
  std::string describeWait(unsigned agent) const;
  std::string describeRank(unsigned agent) const;
  std::string describeEvent(const CommEvent &event) const;

  const TraceContext &context_;
  const AgentSet &agents_;
  StringRef function_;
  std::vector<State> states_;
  std::vector<Channel> channels_;
  std::map<std::vector<int64_t>, unsigned> channelOf_;
  std::deque<unsigned> ready_;
  std::vector<unsigned> parkedAtLoop_, parkedAtLockstep_;
  std::vector<Words> lockstepStates_;
  std::deque<Snapshot> history_;
  int64_t work_ = 0; // nodes executed, and what comparing snapshots cost
  /// Trip counts by loop, rank (where it matters) and variables.
  std::map<Words, std::optional<int64_t>> tripsOf_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_RANK_SIMULATOR_H
