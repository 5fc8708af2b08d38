// on_gpu.h - dispatch and combine of a program on a GPU by MoeBuffer (exchange/moe): GPUs store
// rows into each other's memory, and the host only puts kernels on the rank's stream.
//
// Outside of captures every call begins as on the host: the members send each other their calls
// (calls.h), so that all of them go the same way, and a wrong call fails with the same reason. Then
// it waits for nothing. A captured call communicates only on the GPU; it must have been made
// before.
//
// **Which calls.** The members are up to eight ranks of one process whose GPUs reach each other's
// memory; rows have 16 n bytes of any type, in combine bf16, f16 or f32; capacities are equal.
// Ranks that share a GPU need CUDA_DEVICE_MAX_CONNECTIONS=32, which the tools set. The results are
// those of the host, bit for bit, except which NaN a sum of NaNs is. Other calls go through the
// host (staged.h). The reason is logged at level info.
//
// **Failure.** An expert that does not exist, more rows than the capacity, another dispatch's
// route, and a rank that is missing are reported by check(), after the stream has reached the call.

#ifndef COLL_RUNTIME_STEP_TOKENS_ON_GPU_H
#define COLL_RUNTIME_STEP_TOKENS_ON_GPU_H

#include "runtime/gpu/gpu.h"
#include "runtime/kernels/tokens/tokens.h"
#include "runtime/step/tokens/exchange.h"

#include <memory>

namespace coll::rt {

// The launchers of runtime/kernels/tokens.
struct TokenKernels {
  Status (*widen)(const kernels::WidenExperts &, void *stream) = kernels::launchWidenExperts;
  Status (*unpack)(const kernels::UnpackTokens &, void *stream) = kernels::launchUnpackTokens;
  Status (*readRoute)(const kernels::TokenRoute &, void *stream) = kernels::launchReadRoute;
  Status (*checkRoute)(const kernels::TokenRoute &, void *stream) = kernels::launchCheckRoute;
  Status (*rehearse)(void *stream) = kernels::rehearseTokenKernels;
};

struct TokenOptions {
  int64_t timeoutUs = 60'000'000; // longest wait for another rank, on the GPU and on the host
  // Ranks of this process's program on the GPU, in this rank's groups or not: their kernels run at
  // the same time.
  int ranksOnGpu = 1;
};

// Belongs to the rank's thread, on which the GPU is current.
class TokensOnGpu {
public:
  // Null if this build has no MoeBuffer. `gpu` outlives the object, and `stream` is the rank's.
  static std::unique_ptr<TokensOnGpu> create(gpu::Gpu &gpu, const TokenKernels &kernels,
                                             dl::CudaStream stream, const TokenOptions &options);
  virtual ~TokensOnGpu() = default;

  enum class Way { Gpu, Host };
  // Blocks until all members have made the call, and returns the same on all of them. `serial`
  // becomes that of the first member. In a capture it does not block: kCollUnsupported if no such
  // call was made before.
  virtual Result<Way> agree(const TokenDispatch &dispatch, int32_t &serial, const TokenPlace &place,
                            bool isCapturing) = 0;
  virtual Result<Way> agree(const TokenCombine &combine, const TokenPlace &place,
                            bool isCapturing) = 0;
  // Put the call on the stream, after agree() has returned Gpu.
  virtual Status dispatch(const TokenDispatch &dispatch, int32_t serial,
                          const TokenPlace &place) = 0;
  virtual Status combine(const TokenCombine &combine, const TokenPlace &place) = 0;

  // Whether calls have been put on the stream, so that it may wait for other ranks.
  virtual bool isUsed() const = 0;
  // Ok, or the first failure that the GPU has reported. Does not block.
  virtual Status check() = 0;
  // Ends everything that waits on the GPU, here and at the peers. Later calls fail.
  virtual void abort() = 0;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_ON_GPU_H
