//===- queues.h - queues in which sends match receives ----------------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_QUEUES_H
#define COLL_PASSES_ANALYSIS_PROOF_QUEUES_H

#include "passes/analysis/proof/ports.h"

namespace mlir::coll {

/// Numbers the queues of agents' links. A send and the receive that inverts it have the same queue,
/// as have links that mean the same peer, communicator, tag and direction.
class QueueTable {
public:
  static constexpr unsigned kNone = ~0u;

  struct Agent {
    int64_t rank; // any of them
    const Trace *trace;
  };
  QueueTable() = default;
  /// `agentOf` by rank.
  QueueTable(const PortTable &ports, ArrayRef<Agent> agents, ArrayRef<unsigned> agentOf);

  unsigned size() const { return numQueues_; }
  /// kNone where the link has no peer.
  unsigned get(unsigned agent, unsigned link) const { return queues_[begins_[agent] + link]; }

private:
  using LinkKey = std::pair<unsigned, int64_t>; // first port, tag

  void addSends(unsigned agent);
  void addReceives(unsigned agent, ArrayRef<unsigned> agentOf);
  std::vector<unsigned> sortLinks(unsigned agent, bool sends) const;
  LinkKey getKey(unsigned agent, unsigned link) const;

  const PortTable *ports_ = nullptr; // while the table is made
  ArrayRef<Agent> agents_;
  std::vector<size_t> begins_;
  std::vector<unsigned> queues_;
  std::vector<std::vector<unsigned>> sends_; // of each agent, by key
  unsigned numQueues_ = 0;
};

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_QUEUES_H
