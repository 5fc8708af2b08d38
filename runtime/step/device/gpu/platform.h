// platform.h - the libraries that steps on GPUs use. Tests replace them by fakes.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_PLATFORM_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_PLATFORM_H

#include "runtime/dl/cublaslt.h"
#include "runtime/dl/cudnn.h"
#include "runtime/dl/platform.h"
#include "runtime/kernels/attention/attention.h"
#include "runtime/kernels/convolution/convolution.h"
#include "runtime/kernels/epilogue/epilogue.h"
#include "runtime/step/tokens/on_gpu.h"

namespace coll::rt {

using AttentionLauncher = Status (*)(const kernels::Attention &, const kernels::AttentionBuffers &,
                                     void *stream);

using ConvolutionLauncher = Status (*)(const kernels::Convolution &,
                                       const kernels::ConvolutionBuffers &, void *stream);

using EpilogueLauncher = Status (*)(const kernels::Epilogue &, void *stream);

struct GpuPlatform {
  const dl::Cuda *cuda = nullptr;
  const dl::CublasLt *cublasLt = nullptr; // null: the machine's, when a contraction needs it
  AttentionLauncher attention = kernels::launchAttention;
  AttentionLauncher attentionBackward = kernels::launchAttentionBackward;
  ConvolutionLauncher convolution = kernels::launchConvolution; // if cuDNN has no engine
  EpilogueLauncher epilogue = kernels::launchEpilogue;          // if cuBLASLt has no algorithm
  const dl::Cudnn *cudnn = nullptr; // null: the machine's, when a convolution needs it
  TokenKernels tokens = {};
};

// The machine's driver, or a test's. kCollUnsupported, with the reason, if there is no GPU. Any
// thread may call it.
inline Result<GpuPlatform> gpuPlatform() {
  return dl::platformOr<GpuPlatform>(
      [](const dl::Cuda *cuda) -> Result<GpuPlatform> { return GpuPlatform{cuda}; });
}

// Replaces the platform while the object lives; no executor may be alive when it begins or ends.
using ScopedGpuPlatform = Replacement<GpuPlatform>;

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_PLATFORM_H
