//===- rank_groups.cc - groups as communicators ----------------------------------===//

#include "passes/analysis/rank_groups.h"
#include "dialect/sharding.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::coll;

static constexpr size_t kMaxPrintedRanks = 8;

unsigned GroupTable::getGroup(Operation *op, GroupAttr group) {
  MeshOp mesh = group.isMesh() ? lookupMesh(op, group.getMesh()) : MeshOp();
  auto [entry, isNew] = groupOf_.try_emplace({mesh, group}, groups_.size());
  if (isNew)
    groups_.push_back({mesh, group});
  return entry->second;
}

void GroupTable::expand(unsigned group) {
  commOf_.resize(groups_.size());
  std::vector<int> &commOf = commOf_[group];
  if (!commOf.empty())
    return;
  commOf.assign(numRanks_, -1);
  auto [mesh, attr] = groups_[group];
  for (ArrayRef<int64_t> list : getGroupLists(attr, mesh)) {
    auto [comm, isNew] = comms_.try_emplace(list.vec(), members_.size());
    if (isNew)
      members_.push_back(&comm->first);
    for (int64_t rank : list)
      if (rank < numRanks_)
        commOf[rank] = comm->second;
  }
}

bool GroupTable::isWorld(unsigned group) const {
  auto [mesh, attr] = groups_[group];
  return coversAllRanks(group) && getGroupSize(attr, mesh) == numRanks_;
}

bool GroupTable::coversAllRanks(unsigned group) const {
  // A mesh contains all ranks; rank lists are disjoint and have one length.
  GroupAttr attr = groups_[group].second;
  return attr.isMesh() ||
         static_cast<int64_t>(attr.getLists().size() * attr.getLists().front().size()) == numRanks_;
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
