#include "runtime/kernels/epilogue/epilogue.h"
#include "runtime/kernels/launch.h"

#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace coll::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = int64_t{1} << 20;

// 1. Each thread takes columns, a grid apart. 2. It goes through the column's rows, matrix by
// matrix, and replaces each element. 3. It stores the sum of the column, if that is asked for.
template <typename T, typename Acc>
__global__ void __launch_bounds__(kThreads) finish(Epilogue e) {
  const bool isGradient = e.function == Epilogue::Function::GeluGradient;
  const int64_t step = int64_t{gridDim.x} * kThreads;
  for (int64_t j = int64_t{blockIdx.x} * kThreads + threadIdx.x; j < e.columns; j += step) {
    const Acc bias = e.bias ? static_cast<Acc>(static_cast<const T *>(e.bias)[j]) : 0;
    Acc sum = 0;
    for (int64_t p = 0; p < e.batch; ++p)
      for (int64_t i = 0; i < e.rows; ++i) {
        const int64_t at = p * e.batchStride + i * e.rowStride + j;
        const Acc x = static_cast<Acc>(static_cast<T *>(e.out)[at]) + bias;
        if (e.kept && !isGradient)
          static_cast<T *>(e.kept)[at] = static_cast<T>(x);
        const Acc argument = isGradient ? static_cast<Acc>(static_cast<const T *>(e.x)[at]) : 0;
        const Acc y = epilogue::apply(e.function, x, argument);
        sum += y;
        static_cast<T *>(e.out)[at] = static_cast<T>(y);
      }
    if (e.kept && isGradient)
      static_cast<T *>(e.kept)[j] = static_cast<T>(sum);
  }
}

const void *kernelOf(CollDtype dtype) {
  switch (dtype) {
  case kCollF64:
    return reinterpret_cast<const void *>(finish<double, double>);
  case kCollF16:
    return reinterpret_cast<const void *>(finish<__half, float>);
  case kCollBf16:
    return reinterpret_cast<const void *>(finish<__nv_bfloat16, float>);
  default:
    return reinterpret_cast<const void *>(finish<float, float>);
  }
}

} // namespace

rt::Status launchEpilogue(const Epilogue &epilogue, void *stream) {
  const void *kernel = kernelOf(epilogue.dtype);
  const rt::Result<PreparedKernel> prepared = prepareKernel(kernel, 0);
  if (!prepared)
    return prepared.status();
  Epilogue copy = epilogue;
  void *arguments[] = {&copy};
  const int64_t blocks = std::min((epilogue.columns + kThreads - 1) / kThreads, kMostBlocks);
  return launchKernel("epilogue", kernel, static_cast<int>(blocks), kThreads, 0, arguments, stream);
}

} // namespace coll::kernels
