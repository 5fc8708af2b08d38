//===- agents.h - equivalent ranks, treated as one --------------------*- C++ -*-===//
//
// An agent stands for ranks that run the same trace and take the same decisions, whose
// communicators consist of the same agents, and whose sends and receives have peers of the same
// agents, which lead back in the same way. The ranks of an agent are in step in a maximal
// execution, so simulating the agents decides for all ranks.
//
// Agents are the coarsest stable colouring (color_refinement.h) of a graph of ranks and
// communicators that starts from traces and decisions:
//
//  - A rank has edges to its communicators, and a communicator to the set of its members.
//  - Where every peer follows from the rank alone, a rank has edges to its peers, too. Ranks
//    start with different colours if the way back from a peer differs (ports.h), so
//    that whether a receive inverts a send is decided for all ranks of an agent at once.
//    Sends meet receives in a queue that the agent's port owns (queues.h).
//  - Where a peer changes while loops run, the members of a communicator are a list, so that
//    each position is another agent. A queue belongs to two positions of a communicator.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_AGENTS_H
#define COLL_PASSES_ANALYSIS_PROOF_AGENTS_H

#include "passes/analysis/proof/color_refinement.h"
#include "passes/analysis/proof/queues.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::coll {

class AgentSet {
public:
  /// `traces` by class, `classOf` by rank.
  AgentSet(GroupTable &groups, ArrayRef<Trace> traces, ArrayRef<unsigned> classOf);

  unsigned size() const { return agents_.size(); }
  /// The agent's first rank, and how many it stands for. Agents are ordered by that rank.
  int64_t getRank(unsigned agent) const { return agents_[agent].rank; }
  int64_t getNumRanks(unsigned agent) const { return numRanks_[agent]; }
  const Trace &getTrace(unsigned agent) const { return *agents_[agent].trace; }
  unsigned getAgent(int64_t rank) const { return agentOf_.empty() ? 0 : agentOf_[rank]; }

  /// Communicators that consist of the same agents have one number; -1 if the agent's ranks are not
  /// members of the group.
  int getComm(unsigned group, unsigned agent) const;
  /// The agents in the communicator that getComm() numbers so, of a collective's group.
  ArrayRef<unsigned> getMembers(int comm) const { return commMembers_[comm]; }

  bool hasFixedPeers() const { return hasFixedPeers_; }
  /// The queues of sends and receives, where peers are fixed.
  const QueueTable &getQueues() const { return queues_; }

private:
  class Coloring;
  struct Features;
  using CommMeanings = std::vector<SmallVector<unsigned, 2>>;

  bool isOneAgent(ArrayRef<Features> features) const;
  void makeOneAgent(const Trace &trace);
  std::vector<unsigned> colorRanks(ArrayRef<Features> features, ArrayRef<unsigned> classOf,
                                   const PortTable &ports);
  static void splitByDecisions(ArrayRef<Features> features, ArrayRef<unsigned> classOf,
                               Coloring &coloring);
  std::vector<RankValue> getPositions(unsigned group) const;
  llvm::SetVector<unsigned> getGraphGroups() const;
  CommMeanings getMeanings() const;
  void colorComms(const CommMeanings &meanings, std::vector<unsigned> &colors) const;
  ColorGraph makeGraph(const PortTable &ports, const CommMeanings &meanings) const;
  void makeAgents(std::vector<unsigned> colors, ArrayRef<Trace> traces, ArrayRef<unsigned> classOf);

  GroupTable &groups_;
  llvm::SetVector<unsigned> collectiveGroups_, peerGroups_;
  bool hasFixedPeers_ = true;
  std::vector<unsigned> agentOf_; // by rank; empty if one agent stands for all
  std::vector<unsigned> commOf_;  // by communicator
  std::vector<QueueTable::Agent> agents_;
  std::vector<int64_t> numRanks_;
  std::vector<std::vector<unsigned>> commMembers_;
  QueueTable queues_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_AGENTS_H
