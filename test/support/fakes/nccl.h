// nccl.h - an NCCL for tests, over a fake driver: its communicators join threads of one
// process, and its operations run on the fake's streams.
//
//   FakeCuda cuda(4);
//   FakeNccl nccl;
//   nccl.failNext("commInitRankConfig", kNcclSystemError);
//   … code under test with cuda.table() and nccl.table() …
//   EXPECT_EQ(nccl.liveObjects(), 0);
//
// Like in NCCL, an operation begins when it is at the head of its stream and ends when all members
// have begun it; members whose operations differ wait forever. Creating a communicator never
// blocks. The first operation of a nonblocking communicator is launched only when its state is
// queried. A blocking one waits in the first operation of a kind and size until all members call
// it, or until it is aborted, because NCCL connects them there. Sums are computed in rank order and
// rounded once, which NCCL does not promise. Only one FakeNccl at a time in a process, within the
// life of a FakeCuda.

#ifndef COLL_TEST_SUPPORT_FAKES_NCCL_H
#define COLL_TEST_SUPPORT_FAKES_NCCL_H

#include "runtime/dl/nccl.h"
#include "test/support/fakes/cuda.h"

#include <memory>
#include <vector>

namespace coll::rt::dl {

class FakeNccl {
public:
  // Functions that are newer than `version` are not in the table.
  explicit FakeNccl(int version = 22809);
  ~FakeNccl();
  FakeNccl(const FakeNccl &) = delete;
  FakeNccl &operator=(const FakeNccl &) = delete;

  const Nccl &table() const;

  // The next call of the function with this member name of Nccl fails, after `skip` calls that
  // succeed.
  void failNext(const std::string &function, NcclResult result, int skip = 0);
  // Communicators that are created from now on never become ready.
  void hangInit();
  // Operations that have to connect the members of a blocking communicator never return, unless it
  // is aborted.
  void hangConnect();
  // Operations no longer end once `operations` have begun.
  void hangAfter(int operations);
  // The communicator of the operation that begins after `operations` others breaks: its members get
  // this error when they ask for its state.
  void breakAfter(int operations, NcclResult result);
  int64_t calls(const std::string &function) const;
  // The tags of the collectives that had one, in the order of the calls.
  std::vector<uint64_t> tags() const;

  // The number of communicators, registrations, windows and reductions that were made and not
  // destroyed.
  int64_t liveObjects() const;
  // Errors with a real NCCL: a communicator used while a call is in progress, memory of another
  // GPU, use after the end. Empty if there were none.
  std::string misuse() const;

private:
  struct State;
  std::unique_ptr<State> state_;
  friend struct FakeNcclBase;
};

} // namespace coll::rt::dl

#endif // COLL_TEST_SUPPORT_FAKES_NCCL_H
