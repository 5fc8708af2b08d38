//===- ports.cc - the peers of each rank ----------------------------------------===//

#include "passes/analysis/proof/ports.h"

using namespace mlir;
using namespace mlir::coll;

std::pair<int64_t, PeerError> coll::resolvePeer(ArrayRef<int64_t> members, RankValue position,
                                                int64_t rank) {
  if (!position)
    return {-1, PeerError::Undefined};
  if (*position < 0 || *position >= static_cast<int64_t>(members.size()))
    return {-1, PeerError::OutOfRange};
  if (members[*position] == rank)
    return {-1, PeerError::Self};
  return {members[*position], PeerError::None};
}

PortTable::PortTable(const GroupTable &groups, ArrayRef<Trace> traces, ArrayRef<unsigned> classOf) {
  for (const Trace &trace : traces)
    maxPorts_ = std::max<unsigned>(maxPorts_, trace.ports.size());
  begins_.push_back(0);
  for (auto [rank, classNumber] : llvm::enumerate(classOf)) {
    for (const TracePort &port : traces[classNumber].ports) {
      Entry &entry = entries_.emplace_back();
      entry.comm = groups.getComm(port.group, rank);
      if (entry.comm >= 0)
        entry.peer =
            resolvePeer(groups.getMembers(entry.comm), port.peer.evaluate(rank), rank).first;
    }
    begins_.push_back(entries_.size());
  }
  sorted_.resize(entries_.size());
  for (int64_t rank = 0; rank < groups.getNumRanks(); ++rank)
    findFirsts(rank);
  for (int64_t rank = 0; rank < groups.getNumRanks(); ++rank)
    for (size_t i = begins_[rank]; i < begins_[rank + 1]; ++i)
      if (entries_[i].peer >= 0)
        entries_[i].reverse = findReverse(rank, entries_[i]);
}

void PortTable::findFirsts(int64_t rank) {
  Entry *entries = entries_.data() + begins_[rank];
  MutableArrayRef<unsigned> sorted(sorted_.data() + begins_[rank], getNumPorts(rank));
  auto getKey = [&](unsigned port) { return std::pair(entries[port].comm, entries[port].peer); };
  for (auto [number, port] : llvm::enumerate(sorted))
    port = number;
  llvm::stable_sort(sorted, [&](unsigned a, unsigned b) { return getKey(a) < getKey(b); });
  for (size_t i = 0; i < sorted.size(); ++i) {
    // Ports without a peer match no other port.
    bool isSame =
        i > 0 && entries[sorted[i]].peer >= 0 && getKey(sorted[i - 1]) == getKey(sorted[i]);
    entries[sorted[i]].first = isSame ? entries[sorted[i - 1]].first : sorted[i];
  }
}

int PortTable::findReverse(int64_t rank, const Entry &entry) const {
  const Entry *entries = entries_.data() + begins_[entry.peer];
  ArrayRef<unsigned> sorted(sorted_.data() + begins_[entry.peer], getNumPorts(entry.peer));
  std::pair<int, int> key(entry.comm, rank);
  const unsigned *found = llvm::lower_bound(sorted, key, [&](unsigned port, std::pair<int, int> k) {
    return std::pair(entries[port].comm, entries[port].peer) < k;
  });
  if (found == sorted.end() || entries[*found].comm != key.first ||
      entries[*found].peer != key.second)
    return -1;
  return *found;
}
