//===- ports.h - the peers of each rank -------------------------------*- C++ -*-===//
//
// A port of a trace is an expression for a peer. Here it is evaluated for every rank.
// Ports of one rank may mean the same peer; the first of them stands for all.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_PROOF_PORTS_H
#define COLL_PASSES_ANALYSIS_PROOF_PORTS_H

#include "passes/analysis/proof/trace.h"

namespace mlir::coll {

class PortTable {
public:
  PortTable() = default;
  /// `traces` by class, `classOf` by rank. The peers need no slots; the groups are expanded.
  PortTable(const GroupTable &groups, ArrayRef<Trace> traces, ArrayRef<unsigned> classOf);

  unsigned getMaxPorts() const { return maxPorts_; }
  unsigned getNumPorts(int64_t rank) const { return begins_[rank + 1] - begins_[rank]; }
  bool hasPeer(int64_t rank, unsigned port) const { return get(rank, port).peer >= 0; }
  int64_t getPeer(int64_t rank, unsigned port) const { return get(rank, port).peer; }
  /// The first port of the rank that means the same peer in the same communicator.
  unsigned getFirst(int64_t rank, unsigned port) const { return get(rank, port).first; }
  /// The first port by which the peer means the rank in the same communicator, or -1.
  int getReverse(int64_t rank, unsigned port) const { return get(rank, port).reverse; }

private:
  struct Entry {
    int comm = -1;
    int peer = -1; // global rank, or -1
    unsigned first = 0;
    int reverse = -1;
  };

  const Entry &get(int64_t rank, unsigned port) const { return entries_[begins_[rank] + port]; }
  void findFirsts(int64_t rank);
  int findReverse(int64_t rank, const Entry &entry) const;

  unsigned maxPorts_ = 0;
  std::vector<size_t> begins_; // by rank
  std::vector<Entry> entries_;
  std::vector<unsigned> sorted_; // ports of each rank by communicator, peer, number
};

/// The global rank that a position in a communicator means to `rank`, or why it means none.
enum class PeerError { None, Undefined, OutOfRange, Self };
std::pair<int64_t, PeerError> resolvePeer(ArrayRef<int64_t> members, RankValue position,
                                          int64_t rank);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_PROOF_PORTS_H
