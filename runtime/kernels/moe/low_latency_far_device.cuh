// low_latency_far_device.cuh - finds ranks on other nodes, and their messages.
//
// With one node there is no such rank, and all functions reduce to a comparison.

#ifndef COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FAR_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FAR_DEVICE_CUH

#include "runtime/kernels/error_word.h"
#include "runtime/kernels/moe/low_latency_plan.h"
#include "runtime/kernels/simt/simt.h"

namespace coll::kernels::low_latency {

class Far {
public:
  COLL_DEVICE Far(const PeerGroup &group, const LowLatencyFar &far)
      : far_(far), area_(far.area), members_(group.size) {}

  COLL_DEVICE uint32_t numRanks() const { return far_.numRanks; }
  COLL_DEVICE uint32_t rankOf(uint32_t member) const { return far_.firstRank + member; }
  // The member of a rank of this node.
  COLL_DEVICE uint32_t memberOf(uint32_t rank) const { return rank - far_.firstRank; }
  COLL_DEVICE bool isFar(uint32_t rank) const { return rank - far_.firstRank >= members_; }

  // Ranks of other nodes, in their order.
  COLL_DEVICE uint32_t count() const { return far_.numRanks - members_; }
  COLL_DEVICE uint32_t rankAt(uint32_t i) const { return i < far_.firstRank ? i : i + members_; }

  COLL_DEVICE uint64_t *rung(uint32_t rank) const { return words(area_.rung) + rank; }
  COLL_DEVICE uint64_t *taken() const { return words(area_.taken); }
  COLL_DEVICE const uint64_t *sent(uint32_t rank) const { return words(area_.sent) + rank; }
  COLL_DEVICE const uint64_t *arrived(uint32_t rank) const { return words(area_.arrived) + rank; }
  COLL_DEVICE const uint64_t *returned(uint32_t entry) const {
    return words(area_.returns) + entry;
  }
  COLL_DEVICE char *messageTo(uint32_t rank) const { return message(area_.out, rank); }
  COLL_DEVICE const char *messageFrom(uint32_t rank) const { return message(area_.in, rank); }
  COLL_DEVICE static const LowLatencyMessage &headerOf(const char *message) {
    return *reinterpret_cast<const LowLatencyMessage *>(message);
  }

  // The rank's number in an error word, for a rank of another node.
  COLL_DEVICE static uint32_t named(uint32_t rank) { return kRankOfWord + rank; }

private:
  COLL_DEVICE uint64_t *words(uint64_t offset) const {
    return reinterpret_cast<uint64_t *>(far_.memory + offset);
  }
  COLL_DEVICE char *message(uint64_t offset, uint32_t rank) const {
    const uint32_t i = rank < far_.firstRank ? rank : rank - members_;
    return far_.memory + offset + i * area_.messageBytes;
  }

  const LowLatencyFar &far_;
  const LowLatencyFarArea &area_;
  const uint32_t members_;
};

} // namespace coll::kernels::low_latency

#endif // COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FAR_DEVICE_CUH
