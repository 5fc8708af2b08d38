// nccl.h - an NCCL for tests, over a fake driver: its communicators join threads of one
// process, and its operations run on the fake's streams.
//
//   FakeCuda cuda(4);
//   FakeNccl nccl;
//   nccl.failNext("commInitRankConfig", kNcclSystemError);
//   … code under test with cuda.table() and nccl.table() …
//   EXPECT_EQ(nccl.liveObjects(), 0);
//
// As with NCCL, an operation begins when it is at the head of its stream and ends when all
// members have begun it; members that differ in an operation wait for ever. Making a
// communicator never blocks; of one that is to be non-blocking, the first operation is launched
// only when its state is asked for. One that blocks waits in the first operation of a kind and
// size until all members call it, or until it is aborted: NCCL connects them there.
// Sums run left to right in rank order and are rounded once, which NCCL does not promise. One
// FakeNccl at a time in a process, within the life of a FakeCuda.

#ifndef COLL_TEST_SUPPORT_FAKES_NCCL_H
#define COLL_TEST_SUPPORT_FAKES_NCCL_H

#include "runtime/dl/nccl.h"
#include "test/support/fakes/cuda.h"

#include <memory>
#include <vector>

namespace coll::rt::dl {

class FakeNccl {
public:
  // Functions that are younger than `version` are not in the table.
  explicit FakeNccl(int version = 22809);
  ~FakeNccl();
  FakeNccl(const FakeNccl &) = delete;
  FakeNccl &operator=(const FakeNccl &) = delete;

  const Nccl &table() const;

  // The next call of the function with this member name of Nccl fails, after `skip` calls
  // that do not.
  void failNext(const std::string &function, NcclResult result, int skip = 0);
  // Communicators that begin from now on never become ready.
  void hangInit();
  // Operations that have to connect the members of a communicator that blocks never return,
  // unless it is aborted.
  void hangConnect();
  // Operations never end any more, once `operations` have begun.
  void hangAfter(int operations);
  // The communicator of the operation that begins after `operations` others breaks: its members
  // find this error when they ask for its state.
  void breakAfter(int operations, NcclResult result);
  int64_t calls(const std::string &function) const;
  // The tags of the collectives that had one, in the order of the calls.
  std::vector<uint64_t> tags() const;

  // Communicators, registrations, windows and reductions that were made and not ended.
  int64_t liveObjects() const;
  // What NCCL would not forgive: a communicator used while a call is in progress, memory of
  // another GPU, use after the end. Empty where all was well.
  std::string misuse() const;

private:
  struct State;
  std::unique_ptr<State> state_;
  friend struct FakeNcclBase;
};

} // namespace coll::rt::dl

#endif // COLL_TEST_SUPPORT_FAKES_NCCL_H
