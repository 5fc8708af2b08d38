// nccl_ops.h - the operations of the fake NCCL. All functions run under the fake driver's lock.

#ifndef COLL_TEST_SUPPORT_FAKES_NCCL_OPS_H
#define COLL_TEST_SUPPORT_FAKES_NCCL_OPS_H

#include "runtime/dl/nccl.h"
#include "test/support/fakes/cuda.h"

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace coll::rt::dl::fake {

enum class OpKind { AllReduce, Reduce, Broadcast, ReduceScatter, AllGather, AllToAll, Send, Recv };

struct Op {
  OpKind kind = OpKind::AllReduce;
  const char *src = nullptr;
  char *dst = nullptr;
  size_t count = 0;
  int dtype = 0;
  int reduction = 0;
  int root = 0; // or peer
  double scale = 1;
};

// The bytes of a member's buffers.
struct Sizes {
  size_t src = 0, dst = 0;
};
Sizes sizesOf(const Op &op, int rank, int size);
// Reads a number of an NCCL type.
double scalarOf(const void *scalar, int dtype);

// An operation of a member that has begun.
struct Begun {
  Op op;
  std::shared_ptr<bool> done;
};

struct SplitEntry {
  int color, key, rank;
  NcclComm made;
  NcclComm *slot; // where the caller finds it when all have said where they go
};
using Split = std::vector<SplitEntry>;

// The members of a communicator.
struct Clique {
  explicit Clique(int size)
      : size(size), begun(static_cast<size_t>(size)), splitsOf(static_cast<size_t>(size)) {}

  int size;
  std::vector<int> gpus; // of those who have joined
  bool hangs = false;
  NcclResult error = kNcclSuccess;
  std::vector<uint64_t> begun; // collectives, by member
  std::map<uint64_t, std::map<int, Begun>> collectives;
  std::map<std::pair<int, int>, std::deque<Begun>> sends, recvs; // by source and target
  std::vector<uint64_t> splitsOf;
  std::map<uint64_t, Split> splits;
  // For a blocking communicator: the ranks that have arrived to connect for operations of a kind.
  std::map<std::string, std::set<int>> connecting;

  // Takes back the operations that a member has begun and that are not done.
  void left(int rank);
};

struct Faults {
  int hangAfter = -1; // operations; -1: never
  int breakAfter = -1;
  bool hangConnect = false;
  NcclResult breakWith = kNcclSuccess;
};

// Begins a member's operations, and returns the function that says whether all are done.
FakeCuda::Question begin(Faults &faults, const std::shared_ptr<Clique> &clique, int rank,
                         const std::shared_ptr<bool> &dead, const std::vector<Op> &ops);

} // namespace coll::rt::dl::fake

#endif // COLL_TEST_SUPPORT_FAKES_NCCL_OPS_H
