// convolution.h - convolutions and their gradients, for forms that no library has.
//
//   y[n][o][g][f] = sum over p, c of x[n][o * stride + p * dilation - pad][g][c] * w[g][f][p][c]
//
// where x is zero outside. Tensors are dense: x is [batch][in][groups][channels], w
// [groups][features][window][channels], y [batch][out][groups][features], each with three spatial
// dimensions. Sums are in f32 (f64 of f64), rounded once, in an order that is fixed per shape.

#ifndef COLL_RUNTIME_KERNELS_CONVOLUTION_CONVOLUTION_H
#define COLL_RUNTIME_KERNELS_CONVOLUTION_CONVOLUTION_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"

#include <array>
#include <cstdint>
#include <string>

namespace coll::kernels {

struct Convolution {
  enum class Kind {
    Forward, // y from x and w
    Data,    // x from y and w
    Filter,  // w from x and y
  };
  static constexpr int kSpatial = 3;
  using Sizes = std::array<int64_t, kSpatial>;

  CollDtype dtype = kCollF32; // f32, f64, f16 or bf16
  bool tf32 = false;          // f32: products may be of operands rounded to TF32
  Kind kind = Kind::Forward;
  int64_t batch = 0, groups = 0, channels = 0, features = 0;
  Sizes in{1, 1, 1}, window{1, 1, 1}, out{1, 1, 1};
  Sizes stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0};

  int64_t numX() const { return batch * in[0] * in[1] * in[2] * groups * channels; }
  int64_t numW() const { return groups * features * window[0] * window[1] * window[2] * channels; }
  int64_t numY() const { return batch * out[0] * out[1] * out[2] * groups * features; }
  int64_t numResults() const {
    return kind == Kind::Forward ? numY() : kind == Kind::Data ? numX() : numW();
  }
};

// The operands in the order x, y, w, without the result.
struct ConvolutionBuffers {
  const void *a = nullptr, *b = nullptr;
  void *result = nullptr;
};

// "gradient of the data of a convolution, bf16, 32 x 56x56 x 64 by 3x3, stride 2x2, to 28x28 x
// 128"; for messages.
std::string describe(const Convolution &convolution);

// Ok, or why the call is invalid.
rt::Status checkConvolution(const Convolution &convolution, const ConvolutionBuffers &buffers);

// Whether there is nothing to compute.
inline bool isEmpty(const Convolution &c) { return c.numResults() == 0; }

// Puts the convolution on `stream` and returns at once. kCollInvalidCall: the arguments;
// kCollUnsupported: no CUDA in this build; kCollDevice: CUDA failed. One thread computes one
// element of the result: correct for every form, but slow.
rt::Status launchConvolution(const Convolution &convolution, const ConvolutionBuffers &buffers,
                             void *stream);

// The same on the host, with pointers to host memory, for checked calls: in f64, rounded once.
void convolutionReference(const Convolution &convolution, const ConvolutionBuffers &buffers);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_CONVOLUTION_CONVOLUTION_H
