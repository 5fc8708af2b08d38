// buffer_words.h - what a MoeBuffer and its kernels tell each other. Within runtime/exchange.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_BUFFER_WORDS_H
#define COLL_RUNTIME_EXCHANGE_MOE_BUFFER_WORDS_H

#include "runtime/exchange/moe/buffer.h"

namespace coll::rt {

// Pinned memory: what the GPU writes, and the host.
struct MoeBuffer::Words {
  kernels::PeerControl control;
  alignas(64) uint64_t layoutError;
  alignas(64) kernels::MoeCounters counters;
  // Of notifications of no tokens, by which ranks meet; the GPU's alone.
  alignas(64) int32_t noTokens[kernels::kMaxPeers];
  // Of both buffers of the low-latency mode, while these are emptied; the driver's alone.
  alignas(64) char lowLatencyStates[2][kernels::kLowLatencyStateBytes];
  int32_t rankPrefix[kernels::kMaxPeers * kernels::kMaxPeers], channelPrefix[kernels::kMaxPeers];
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_BUFFER_WORDS_H
