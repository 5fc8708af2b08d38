// epilogue.h - what follows a matrix product, for forms that the matrix library does not compute.

#ifndef COLL_RUNTIME_KERNELS_EPILOGUE_EPILOGUE_H
#define COLL_RUNTIME_KERNELS_EPILOGUE_EPILOGUE_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define COLL_EPILOGUE_CODE __host__ __device__
#else
#define COLL_EPILOGUE_CODE
#endif

namespace coll::kernels {

// A step of f(x) for each x of a matrix, in this order: x + bias[column]; `kept` gets x; the
// function.
struct Epilogue {
  enum class Function { None, Relu, Gelu, GeluGradient };

  CollDtype dtype = kCollF32; // of all memory: f32, f64, f16 or bf16
  Function function = Function::None;
  int64_t batch = 1, rows = 0, columns = 0;
  int64_t rowStride = 0, batchStride = 0; // of `out`, in elements
  void *out = nullptr;                    // the product, which the result replaces
  const void *bias = nullptr;             // [columns]; null: none
  const void *x = nullptr;                // of GeluGradient, laid out as `out`, without a batch
  // Gelu: laid out as `out`. GeluGradient: [columns], the sum of each column of the result. Null:
  // not asked for; with it there is no batch.
  void *kept = nullptr;
};

namespace epilogue {

constexpr double kLinear = 0.7978845608028654, kCubic = 0.044715; // kLinear: sqrt(2 / pi)

template <typename Float>
COLL_EPILOGUE_CODE inline Float tanhOf(Float x) {
  return std::tanh(static_cast<Float>(kLinear) * (x + static_cast<Float>(kCubic) * x * x * x));
}

template <typename Float>
COLL_EPILOGUE_CODE inline Float gelu(Float x) {
  return x / 2 * (1 + tanhOf(x));
}

// The derivative of gelu.
template <typename Float>
COLL_EPILOGUE_CODE inline Float geluSlope(Float x) {
  const Float t = tanhOf(x);
  return (1 + t) / 2 + x / 2 * (1 - t * t) * static_cast<Float>(kLinear) *
                           (1 + 3 * static_cast<Float>(kCubic) * x * x);
}

// Zero for negative numbers; NaN stays.
template <typename Float>
COLL_EPILOGUE_CODE inline Float relu(Float x) {
  return x < 0 ? Float(0) : x;
}

// The function of x, and of `at`, the element of Epilogue::x.
template <typename Float>
COLL_EPILOGUE_CODE inline Float apply(Epilogue::Function function, Float x, Float at) {
  switch (function) {
  case Epilogue::Function::Relu:
    return relu(x);
  case Epilogue::Function::Gelu:
    return gelu(x);
  case Epilogue::Function::GeluGradient:
    return x * geluSlope(at);
  default:
    return x;
  }
}

} // namespace epilogue

// Puts it on `stream` and returns at once. kCollUnsupported: no CUDA in this build; kCollDevice:
// CUDA failed. A thread computes a column: correct for every form, but slow. Sums are in f32 (f64
// of f64), in the order of the rows.
rt::Status launchEpilogue(const Epilogue &epilogue, void *stream);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_EPILOGUE_EPILOGUE_H
