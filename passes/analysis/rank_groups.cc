//===- rank_groups.cc - groups as communicators ----------------------------------===//

#include "passes/analysis/rank_groups.h"
#include "dialect/sharding.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::coll;

static constexpr size_t kMaxPrintedRanks = 8;

unsigned GroupTable::getGroup(Operation *op, GroupAttr group) {
  MeshOp mesh = group.isMesh() ? lookupMesh(op, group.getMesh()) : MeshOp();
  auto [entry, isNew] = groups_.try_emplace({mesh, group}, commOf_.size());
  if (!isNew)
    return entry->second;
  std::vector<int> commOf(numRanks_, -1);
  for (ArrayRef<int64_t> list : getGroupLists(group, mesh)) {
    auto [comm, isNewComm] = comms_.try_emplace(list.vec(), members_.size());
    if (isNewComm)
      members_.push_back(&comm->first);
    for (int64_t rank : list)
      if (rank < numRanks_)
        commOf[rank] = comm->second;
  }
  commOf_.push_back(std::move(commOf));
  return commOf_.size() - 1;
}

bool GroupTable::isWorld(unsigned group) const {
  int comm = commOf_[group].front();
  return comm >= 0 && static_cast<int64_t>(members_[comm]->size()) == numRanks_;
}

std::string coll::formatCount(int64_t count) {
  std::string digits = std::to_string(count);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return digits;
}

std::string coll::formatRanks(ArrayRef<int64_t> ranks) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '[';
  llvm::interleaveComma(ranks.take_front(kMaxPrintedRanks), out);
  if (ranks.size() > kMaxPrintedRanks)
    out << ", … and " << formatCount(ranks.size() - kMaxPrintedRanks) << " more";
  out << ']';
  return text;
}
