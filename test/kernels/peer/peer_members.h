// peer_members.h - the members of a peer group in the tests, with the buffers of their calls and
// the expected content of these.

#ifndef COLL_TEST_KERNELS_PEER_MEMBERS_H
#define COLL_TEST_KERNELS_PEER_MEMBERS_H

#include "runtime/kernels/error_word.h"
#include "test/kernels/peer/peer_cases.h"
#include "test/kernels/peer/peer_rig.h"

#include <string>
#include <vector>

namespace coll::kernels::test {

// One member's buffers of a case.
struct Buffers {
  char *src = nullptr;
  char *dst = nullptr;
  bool guarded = true; // dst has nothing else beside it
  Bytes sent;          // src at first
  Bytes before;        // dst at first
  Bytes expected;      // dst in the end
};

class Members {
public:
  static constexpr WorkspaceSizes kSmallWorkspace = {64 << 10, 4, 8 << 10, 2},
                                  kManySlots = {64 << 10, 4, 12 << 10, 4};

  // `sizes` are those of the workspaces of emulated members; on GPUs they are the defaults.
  Members(PeerRig &rig, uint32_t size, uint64_t timeoutNs = 20'000'000'000,
          const WorkspaceSizes &sizes = kSmallWorkspace);

  const PeerGroup &member(uint32_t rank) const { return members_[rank]; }
  KernelError errorOf(uint32_t rank) const {
    return static_cast<KernelError>(static_cast<uint32_t>(members_[rank].control->error));
  }

  // Makes the calls on all members, and compares the results.
  void run(Random &random, const std::vector<Case> &cases, uint64_t seed);

  // The same in steps: prepares and fills every member's buffers of a call; returns what a member
  // has to run.
  std::vector<Buffers> prepare(Random &random, const Case &c);
  rt::Result<PeerPlan> planOf(const Case &c, uint32_t rank,
                              const std::vector<Buffers> &buffers) const;

private:
  uint64_t srcBytes(const Case &c) const { return c.blockBytes() * (c.srcIsWide() ? size_ : 1); }
  uint64_t dstBytes(const Case &c) const { return c.blockBytes() * (c.dstIsWide() ? size_ : 1); }

  std::vector<Buffers> place(const Case &c);
  // In place, the smaller buffer is the member's own block of the larger one.
  void placeInPlace(const Case &c, uint32_t rank, Buffers &b) const;
  void fill(Fast random, const Case &c, std::vector<Buffers> &buffers);
  void fillInPlace(uint32_t rank, Buffers &b) const;
  Bytes expect(const Case &c, uint32_t rank, const std::vector<Buffers> &buffers) const;
  // "", or the first byte that is not as expected.
  std::string difference(const Case &c, const std::vector<Buffers> &buffers);

  PeerRig &rig_;
  const uint32_t size_;
  std::vector<PeerGroup> members_;
  std::vector<char *> workspaces_;
};

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_PEER_MEMBERS_H
