// low_latency_far.h - the low-latency token exchange between nodes: messages, and the pinned memory
// in which GPUs write and read them.
//
// In each call a rank has one message for each rank of another node. The sending kernel writes it
// into pinned memory in its final form. The GPU raises a word, and a thread of the host sends the
// message. Messages of other nodes arrive in pinned memory too; the host checks them and raises a
// word, and the receiving kernel reads them there. Nothing runs on the GPU in between. The host's
// thread only follows the words and is not told of calls, so graphs may be replayed.
//
// **A dispatch's message**: header; begins [local expert + 1] u32, an expert's first entry; entries
// [tokens * numTopk] u64, by expert, then by the token's place: row << 32 | the value of
// LowLatencyRows::sources; rows. A row is stored once for all of the receiver's experts. **A
// combine's message**: header; rows, each followed by 16 bytes that begin with the value of
// `sources`. Rows are bf16, or as in low_latency_format_device.cuh. Parts are aligned to 16.

#ifndef COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FAR_H
#define COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FAR_H

#include <cstdint>

namespace coll::kernels {

struct LowLatencyShape; // low_latency.h

inline constexpr uint32_t kLowLatencyRanks = 128; // of all nodes, at most

// Offsets in the pinned memory of one buffer, which is zero at the start. Words are u64, each
// written by one side, and have the number of the buffer's call, from 1.
struct LowLatencyFarArea {
  uint64_t rung;    // [rank], by the GPU: the message for the rank is written
  uint64_t taken;   // by the GPU: all received messages were read
  uint64_t sent;    // [rank], by the host: the message for the rank may be overwritten
  uint64_t arrived; // [rank], by the host: the rank's message has arrived
  uint64_t returns; // [maxTokens][numTopk], by the host: call << 32 | row of a combine's message
  uint64_t out;     // messages to ranks of other nodes, in their order
  uint64_t in;      // messages from them
  uint64_t messageBytes; // the most bytes of a message, and the distance between messages
  uint64_t bytes;        // in all; a multiple of 512
};
LowLatencyFarArea lowLatencyFarArea(const LowLatencyShape &shape, uint32_t numRanks,
                                    uint32_t groupSize);

// Ranks on other nodes. A member's rank is its node's first rank plus its position.
struct LowLatencyFar {
  uint32_t numRanks = 0;       // of all nodes; 0: all ranks are members
  uint32_t firstRank = 0;      // member 0's
  LowLatencyFarArea area = {}; // of this call's shape, or of a larger one
  char *memory = nullptr;      // area.bytes of this call's buffer, as the GPU addresses it
};
// Whether calls of the shape fit into an area for another one.
bool lowLatencyFits(const LowLatencyShape &shape, uint32_t numRanks, uint32_t groupSize,
                    const LowLatencyFarArea &area);

// The header at the start of a message.
struct alignas(16) LowLatencyMessage {
  enum Kind : uint32_t { kDispatch = 1, kCombine };

  uint32_t what = 0;   // a hash of the call; differs if calls do
  uint32_t number = 0; // the buffer's call, from 1
  uint32_t kind = 0;
  uint32_t rowBytes = 0;
  uint32_t rows = 0;
  uint32_t entries = 0, tokens = 0, numTopk = 0; // of a dispatch
};

namespace low_latency {

constexpr uint64_t aligned16(uint64_t bytes) { return (bytes + 15) / 16 * 16; }

// Bytes of a row in a message.
constexpr uint32_t plainBytes(uint32_t hidden) { return hidden * 2; }
constexpr uint32_t fp8Bytes(uint32_t hidden) {
  return static_cast<uint32_t>(aligned16(uint64_t{hidden} + hidden / 128 * 4));
}
constexpr uint32_t logBytes(uint32_t hidden) {
  return static_cast<uint32_t>(aligned16(uint64_t{hidden} + hidden / 4 + hidden / 128 * 4));
}

// Offsets in a message of a dispatch.
constexpr uint64_t kBeginsAt = sizeof(LowLatencyMessage);
constexpr uint64_t entriesAt(uint32_t localExperts) {
  return kBeginsAt + aligned16((uint64_t{localExperts} + 1) * sizeof(uint32_t));
}
constexpr uint64_t rowsAt(uint32_t localExperts, uint32_t tokens, uint32_t numTopk) {
  return entriesAt(localExperts) + aligned16(uint64_t{tokens} * numTopk * sizeof(uint64_t));
}
// Offsets in a message of a combine.
constexpr uint64_t kReturnsAt = sizeof(LowLatencyMessage);
constexpr uint64_t kTailBytes = 16; // after each row

} // namespace low_latency

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_FAR_H
