//===- rank_groups.h - groups as communicators ------------------------*- C++ -*-===//

#ifndef COLL_PASSES_ANALYSIS_RANK_GROUPS_H
#define COLL_PASSES_ANALYSIS_RANK_GROUPS_H

#include "dialect/dialect.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <vector>

namespace mlir::coll {

/// Numbers the groups that a module names, and the communicators that they stand
/// for. A communicator is an ordered rank list: two groups that put a rank into equal
/// lists mean the same communicator on that rank.
class GroupTable {
public:
  explicit GroupTable(int64_t numRanks) : numRanks_(numRanks) {}

  int64_t getNumRanks() const { return numRanks_; }

  /// Number of `group` as `op` means it.
  unsigned getGroup(Operation *op, GroupAttr group);
  unsigned getNumGroups() const { return groups_.size(); }

  /// Computes the group's communicators, which getComm() needs. This takes time proportional to the
  /// number of ranks; the other functions do not.
  void expand(unsigned group);

  /// The communicator of `rank` in the group, or -1 if the rank is not a member.
  int getComm(unsigned group, int64_t rank) const { return commOf_[group][rank]; }

  llvm::ArrayRef<int64_t> getMembers(int comm) const { return *members_[comm]; }
  unsigned getNumComms() const { return members_.size(); }

  /// The group holds all ranks in one communicator.
  bool isWorld(unsigned group) const;
  /// Every rank is a member.
  bool coversAllRanks(unsigned group) const;

private:
  int64_t numRanks_;
  llvm::DenseMap<std::pair<Operation *, Attribute>, unsigned> groupOf_;
  std::vector<std::pair<MeshOp, GroupAttr>> groups_;
  std::vector<std::vector<int>> commOf_;
  std::map<std::vector<int64_t>, int> comms_;
  std::vector<const std::vector<int64_t> *> members_;
};

/// "[0, 1, 2, 3]"; of a long list the first eight and "… and 8 more".
std::string formatRanks(llvm::ArrayRef<int64_t> ranks);

/// 16384 as "16,384".
std::string formatCount(int64_t count);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_RANK_GROUPS_H
