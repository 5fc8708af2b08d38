// A build without exchange/moe: tokens of programs on GPUs go through the host.

#include "runtime/step/tokens/on_gpu.h"

namespace coll::rt {

std::unique_ptr<TokensOnGpu> TokensOnGpu::create(gpu::Gpu &, const TokenKernels &, dl::CudaStream,
                                                 const TokenOptions &) {
  return nullptr;
}

} // namespace coll::rt
