//===- rank_agents.h - ranks that behave alike, as one ----------------*- C++ -*-===//
//
// An agent stands for ranks that run the same trace, decide alike, and whose
// communicators are composed alike. The ranks of an agent are in step in a maximal
// execution, so simulating the agents decides for all ranks. Ranks that send or
// receive stay alone: their peers tell them apart.
//
// Agents are the coarsest stable colouring of the graph of ranks and communicators
// that starts from traces and decisions.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_RANK_AGENTS_H
#define COLL_PASSES_ANALYSIS_RANK_AGENTS_H

#include "passes/analysis/rank_trace.h"

namespace mlir::coll {

class AgentSet {
public:
  /// `traces` by class, `classOf` by rank.
  AgentSet(GroupTable &groups, ArrayRef<Trace> traces, ArrayRef<unsigned> classOf);

  unsigned size() const { return agents_.size(); }
  /// The agent's first rank, and how many it stands for.
  int64_t getRank(unsigned agent) const { return agents_[agent].rank; }
  int64_t getNumRanks(unsigned agent) const { return agents_[agent].numRanks; }
  const Trace &getTrace(unsigned agent) const { return *agents_[agent].trace; }
  unsigned getAgent(int64_t rank) const { return colorOf_[rank]; }

  /// Communicators that are composed alike are one here; -1 where the agent's ranks
  /// are not members of the group.
  int getComm(unsigned group, unsigned agent) const;
  /// The agents in the communicator that getComm() numbers so.
  ArrayRef<unsigned> getMembers(int comm) const { return commMembers_[comm]; }

private:
  struct Agent {
    int64_t rank = -1;
    int64_t numRanks = 0;
    const Trace *trace = nullptr;
  };

  struct Features;

  void makeOneAgent(const Trace &trace);
  void initialize(ArrayRef<Features> features, ArrayRef<unsigned> classOf);
  bool refine();
  void colorComms();
  void makeAgents(ArrayRef<Trace> traces, ArrayRef<unsigned> classOf);

  GroupTable &groups_;
  std::vector<unsigned> usedGroups_;
  bool isOneAgent_ = false;           // nothing tells ranks apart; nothing is stored by rank
  std::vector<unsigned> colorOf_;     // by rank
  std::vector<unsigned> commColorOf_; // by communicator
  unsigned numColors_ = 0, numCommColors_ = 0;
  std::vector<Agent> agents_;
  std::vector<std::vector<unsigned>> commMembers_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_RANK_AGENTS_H
