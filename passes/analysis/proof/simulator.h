//===- simulator.h - one maximal execution of the traces --------------*- C++ -*-===//
//
// Sends are rendezvous, there are no wildcards, and operations are posted in program order: per
// communicator and stream for collectives, per communicator, tag and pair for sends and receives.
// So which operations match does not depend on timing, and one execution that runs until no rank
// can proceed decides for all.
//
// An operation in flight is a Post; it knows which request of which agent it completes. Completed
// operations are forgotten.
//
// A loop is not unrolled where two visits of its head find the same state (positions,
// variables, operations in flight): all further rounds would do the same.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_SIMULATOR_H
#define COLL_PASSES_ANALYSIS_PROOF_SIMULATOR_H

#include "passes/analysis/proof/agents.h"

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
  static constexpr unsigned kNone = ~0u;
  /// States of a request other than the number of a post: not in use, or complete.
  static constexpr unsigned kIdle = kNone, kComplete = kNone - 1;

  /// An operation that an agent posted and that is not complete.
  struct Post {
    const CommEvent *event;
    unsigned agent;
    unsigned request;
    unsigned next;   // in its queue or instance, or among free posts
    unsigned serial; // counts the agent's posts
    int position;    // of a peer that is not fixed, in the communicator
  };
  /// The posts of one pair of agents that wait for their counterparts: all sends, or all
  /// receives.
  struct Queue {
    unsigned head = kNone, tail = kNone;
  };
  using QueueKey = std::pair<uint64_t, uint64_t>; // communicator and tag, source and target
  /// One collective, executed by some of its members so far.
  struct Instance {
    unsigned posts = kNone;
    unsigned numPosts = 0;
  };
  struct Channel {
    int64_t numComplete = 0;
    std::vector<Instance> instances; // that are not complete, in order
  };
  struct Frame {
    const TraceList *list;
    size_t next = 0;
    const TraceNode *loop = nullptr;
    int64_t iteration = 0, trips = 0, first = 0, step = 0;
    unsigned phase = 0; // bodies of a lockstep node that are done
  };
  struct State {
    SmallVector<Frame, 3> frames;
    std::vector<RankValue> slots;
    /// Posts, kIdle or kComplete; the last one is that of operations that block.
    std::vector<unsigned> requests;
    unsigned awaited = kNone; // the request that the agent is blocked on
    unsigned numPosts = 0;
    /// Operations posted by channel, of few.
    SmallVector<std::pair<unsigned, int64_t>, 2> posted;

    unsigned getBlocking() const { return requests.size() - 1; }
  };
  using Words = std::vector<int64_t>;
  struct Snapshot {
    size_t hash; // of the state
    Words state;
    Words iterations;
  };

  // simulator.cc: one agent's steps
  LogicalResult advance(unsigned agent);
  LogicalResult execute(unsigned agent, const TraceNode &node, bool &moved);
  void finishList(unsigned agent, bool &parked);
  LogicalResult enterLoop(unsigned agent, const TraceNode &node, bool &parked);
  LogicalResult enterBranch(unsigned agent, const TraceNode &node);
  void assign(unsigned agent, const TraceNode &node);
  std::optional<int64_t> countTrips(unsigned agent, const TraceNode &node, Frame &frame);
  std::optional<int64_t> countWhile(unsigned agent, const CountedWhile &counted);
  std::optional<int64_t> runWhile(unsigned agent, const CountedWhile &counted) const;
  bool finishRequest(unsigned agent, unsigned request);
  void moveRequests(unsigned agent, const TraceNode &node);

  // simulator_match.cc: posts
  LogicalResult post(unsigned agent, const CommEvent &event, unsigned request);
  LogicalResult postCollective(unsigned agent, const CommEvent &event, unsigned request, int comm);
  LogicalResult postPointToPoint(unsigned agent, const CommEvent &event, unsigned request);
  LogicalResult reportPeer(unsigned agent, const CommEvent &event);
  Queue *findQueue(unsigned agent, const CommEvent &event, int &position, QueueKey &key);
  const RankExpr &getPeerExpr(unsigned agent, const CommEvent &event) const;
  unsigned addPost(unsigned agent, const CommEvent &event, unsigned request);
  void complete(unsigned post);

  // simulator_loops.cc: rounds that repeat
  LogicalResult stepLockstep();
  void skipRepeatedRounds();
  void encode(unsigned agent, Words &state, Words &iterations) const;
  Snapshot takeSnapshot() const;
  bool skip(const Snapshot &before, const Snapshot &now);
  LogicalResult reportTooMuchWork(const TraceNode &node) const;

  // simulator_report.cc: what went wrong, rank by rank
  LogicalResult reportMismatch(unsigned agent, const CommEvent &event, unsigned first);
  LogicalResult reportTypes(unsigned agent, const CommEvent &event, const Post &other);
  LogicalResult reportStuck();
  LogicalResult reportCycle(ArrayRef<int64_t> cycle);
  LogicalResult reportEnded(int64_t rank, int64_t ended);
  LogicalResult reportApart(unsigned agent, unsigned other);
  void noteOthers(InFlightDiagnostic &diag, int64_t rank) const;
  const TraceNode &getNode(unsigned agent) const;
  const Post &getAwaited(unsigned agent) const;
  ArrayRef<int64_t> getMembers(int64_t rank, const CommEvent &event) const;
  int64_t getPeerRank(int64_t rank, const CommEvent &event, int position) const;
  int64_t getAwaitedRank(int64_t rank) const;
  unsigned getMissingAgent(unsigned agent) const;
  std::string describeWait(int64_t rank) const;
  std::string describeAgent(unsigned agent) const;
  std::string describeEvent(const CommEvent &event) const;

  const TraceContext &context_;
  const AgentSet &agents_;
  StringRef function_;
  std::vector<State> states_;
  std::vector<Post> posts_;
  unsigned freePost_ = kNone;
  std::vector<Queue> queues_;              // where peers are fixed
  DenseMap<QueueKey, Queue> openQueues_;   // where they are not: queues that hold posts
  DenseMap<int64_t, unsigned> tagNumbers_; // then
  std::vector<Channel> channels_;
  DenseMap<std::pair<int64_t, int64_t>, unsigned> channelOf_; // by communicator and stream
  std::deque<unsigned> ready_;
  std::vector<unsigned> parkedAtLoop_, parkedAtLockstep_;
  std::vector<Words> lockstepStates_;
  std::deque<Snapshot> history_;
  int64_t work_ = 0; // nodes executed, and what comparing snapshots cost
  int64_t maxWork_ = 0;
  int64_t workAtSnapshot_ = 0;
  /// Trip counts by loop, rank (where it matters) and variables.
  std::map<Words, std::optional<int64_t>> tripsOf_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_SIMULATOR_H
