// handle.h - places of the arrays of a MoeHandle in its memory. Internal to runtime/exchange.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_HANDLE_H
#define COLL_RUNTIME_EXCHANGE_MOE_HANDLE_H

#include <cstdint>

namespace coll::rt {

// Offsets in bytes; rankPrefix is at 0.
struct MoeHandlePlaces {
  uint64_t channelPrefix, sendHead, bytes;

  MoeHandlePlaces(int64_t numTokens, int numRanks, int numChannels) {
    const auto ranks = static_cast<uint64_t>(numRanks);
    channelPrefix = roundUp(ranks * ranks * sizeof(int32_t));
    sendHead =
        channelPrefix + roundUp(ranks * static_cast<uint64_t>(numChannels) * sizeof(int32_t));
    bytes = sendHead + roundUp(static_cast<uint64_t>(numTokens) * ranks * sizeof(int32_t));
  }

private:
  static uint64_t roundUp(uint64_t bytes) { return (bytes + 15) / 16 * 16; }
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_HANDLE_H
