// room.h - a MoeBuffer of a group, with the memory of calls up to some size. Internal to on_gpu.cc.

#ifndef COLL_RUNTIME_STEP_TOKENS_ROOM_H
#define COLL_RUNTIME_STEP_TOKENS_ROOM_H

#include "runtime/exchange/moe/buffer.h"
#include "runtime/step/tokens/calls.h"
#include "runtime/step/tokens/on_gpu.h"

namespace coll::rt {

// A call's arrays in memory of the rank that is not the program's; offsets in bytes.
struct TokenScratch {
  TokenScratch(int64_t tokens, int64_t topk, int64_t experts, int64_t ranks);

  int64_t topkIdx = 0;         // [tokens][topk] i64
  int64_t tokensPerRank = 0;   // [ranks]
  int64_t tokensPerExpert = 0; // [experts]
  int64_t isTokenInRank = 0;   // [tokens][ranks] u8
  int64_t handle = 0;          // of MoeBuffer
  int64_t counters = 0;        // kernels::MoeCounters
  int64_t bytes = 0;
};

// The memory that a call needs; the same on all members.
struct TokenNeed {
  int64_t halfBytes = 0; // of each half of the MoeBuffer
  int64_t scratchBytes = 0;

  bool fitsIn(const TokenNeed &room) const {
    return halfBytes <= room.halfBytes && scratchBytes <= room.scratchBytes;
  }
};
// The need of a call with rows of `rowBytes` bytes; a dispatch also has these scales and experts.
TokenNeed tokenNeed(int64_t capacity, int64_t rowBytes, int64_t numScales, int64_t topk,
                    const TokenScratch &scratch);

class TokenRoom {
public:
  // All members call it, with the same need. kCollUnsupported on all of them, with the rank and its
  // reason, if one of them cannot exchange tokens on its GPU. Blocks.
  static Result<std::unique_ptr<TokenRoom>> open(gpu::Gpu &gpu, const TokenKernels &kernels,
                                                 dl::CudaStream stream, const TokenOptions &options,
                                                 const TokenNeed &need, TokenCalls &calls);

  const TokenNeed &size() const { return size_; }
  MoeBuffer &buffer() const { return *buffer_; }
  const MoeConfig &config() const { return config_; }
  char *scratch() const { return scratch_.device(); }
  uint32_t *routeError() const { return reinterpret_cast<uint32_t *>(error_.device()); }
  // Ok, or the first failure that the GPU has reported.
  Status check();

private:
  Status prepare(gpu::Gpu &gpu, const TokenKernels &kernels, dl::CudaStream stream,
                 const TokenOptions &options, const TokenCalls &calls);

  TokenNeed size_;
  MoeConfig config_;
  dl::GpuMemory scratch_, error_; // error_: pinned
  std::unique_ptr<MoeBuffer> buffer_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_ROOM_H
