// moe_far_network.h - simulates the network between nodes of a team in the tests of the low-latency
// exchange: pinned memory, and the host's part, done between launches.

#ifndef COLL_TEST_KERNELS_MOE_FAR_NETWORK_H
#define COLL_TEST_KERNELS_MOE_FAR_NETWORK_H

#include "test/kernels/moe/moe_low_latency_round.h"

#include <array>
#include <cstdint>
#include <vector>

namespace coll::kernels::test {

class FarNetwork {
public:
  // `shape` must not need less memory than the shapes of the calls.
  FarNetwork(MoeTeam &team, const rt::MoeLowLatencyShape &shape);

  // The argument with which a member's calls in one of the two buffers are launched.
  LowLatencyFar of(uint32_t member, uint32_t buffer) const;
  const LowLatencyFarArea &area(uint32_t member) const { return areas_[member]; }
  // The address of a message in a member's memory.
  char *messageTo(uint32_t member, uint32_t buffer, uint32_t other) const;
  char *messageFrom(uint32_t member, uint32_t buffer, uint32_t other) const;
  uint64_t &word(uint32_t member, uint32_t buffer, uint64_t offset, uint64_t index) const;

  // Call it after the sends of the buffer's call `number`, from 1, of this shape: transfers the
  // messages that the kernels have requested, and announces them at their destinations. All members
  // must have requested theirs.
  void carry(const rt::MoeLowLatencyShape &shape, uint32_t buffer, uint32_t number);
  // The same for one message.
  void carry(const rt::MoeLowLatencyShape &shape, uint32_t buffer, uint32_t number, uint32_t from,
             uint32_t to);

private:
  uint64_t placeOf(uint32_t member, uint32_t other) const;

  MoeTeam &team_;
  std::vector<LowLatencyFarArea> areas_;      // by member: nodes differ in their size
  std::array<std::vector<char *>, 2> memory_; // [buffer][member]
};

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_MOE_FAR_NETWORK_H
