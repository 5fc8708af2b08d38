// buffer_words.h - words that a MoeBuffer and its kernels share. Internal to runtime/exchange.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_BUFFER_WORDS_H
#define COLL_RUNTIME_EXCHANGE_MOE_BUFFER_WORDS_H

#include "runtime/exchange/moe/buffer.h"

namespace coll::rt {

// Pinned memory that the GPU and the host write.
struct MoeBuffer::Words {
  kernels::PeerControl control;
  alignas(64) uint64_t layoutError;
  alignas(64) kernels::MoeCounters counters;
  // For notifications of no tokens, with which ranks meet; only the GPU uses it.
  alignas(64) int32_t noTokens[kernels::kMaxPeers];
  // Copies of the states of both low-latency buffers while these are cleared; only the driver uses
  // it.
  alignas(64) char lowLatencyStates[2][kernels::kLowLatencyStateBytes];
  int32_t rankPrefix[kernels::kMaxPeers * kernels::kMaxPeers], channelPrefix[kernels::kMaxPeers];
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_BUFFER_WORDS_H
