#include "runtime/kernels/convolution/sum.h"
#include "runtime/kernels/launch.h"

#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace coll::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = int64_t{1} << 20;

// 1. Each thread takes elements of the result, a grid apart. 2. It computes the sum of each, in the
// order of the operands' memory, and rounds it once.
template <typename T, typename Acc>
__global__ void __launch_bounds__(kThreads)
    convolve(Convolution::Kind kind, convolution::Shape shape, const void *a, const void *b,
             void *result, int64_t count) {
  const auto load = [](const void *data, int64_t i) {
    return static_cast<Acc>(static_cast<const T *>(data)[i]);
  };
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count; i += step)
    static_cast<T *>(result)[i] =
        static_cast<T>(convolution::sumOf<Acc>(kind, shape, a, b, i, load));
}

const void *kernelOf(CollDtype dtype) {
  switch (dtype) {
  case kCollF64:
    return reinterpret_cast<const void *>(convolve<double, double>);
  case kCollF16:
    return reinterpret_cast<const void *>(convolve<__half, float>);
  case kCollBf16:
    return reinterpret_cast<const void *>(convolve<__nv_bfloat16, float>);
  default:
    return reinterpret_cast<const void *>(convolve<float, float>);
  }
}

} // namespace

rt::Status launchConvolution(const Convolution &c, const ConvolutionBuffers &buffers,
                             void *stream) {
  COLL_RETURN_IF_ERROR(checkConvolution(c, buffers));
  if (isEmpty(c))
    return {};
  Convolution::Kind kind = c.kind;
  convolution::Shape shape = convolution::shapeOf(c);
  const void *a = buffers.a, *b = buffers.b;
  void *result = buffers.result;
  int64_t count = c.numResults();
  void *arguments[] = {&kind, &shape, &a, &b, &result, &count};
  const int64_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  const void *kernel = kernelOf(c.dtype);
  const rt::Result<PreparedKernel> prepared = prepareKernel(kernel, 0);
  if (!prepared)
    return prepared.status();
  return launchKernel("convolve", kernel, static_cast<int>(blocks), kThreads, 0, arguments, stream);
}

} // namespace coll::kernels
