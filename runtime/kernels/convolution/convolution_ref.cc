#include "runtime/base/dtype.h"
#include "runtime/kernels/convolution/sum.h"

namespace coll::kernels {

namespace {

double load(CollDtype dtype, const void *data, int64_t i) {
  switch (dtype) {
  case kCollF64:
    return static_cast<const double *>(data)[i];
  case kCollF16:
    return static_cast<double>(rt::f16ToF32(static_cast<const uint16_t *>(data)[i]));
  case kCollBf16:
    return static_cast<double>(rt::bf16ToF32(static_cast<const uint16_t *>(data)[i]));
  default:
    return static_cast<double>(static_cast<const float *>(data)[i]);
  }
}

void store(CollDtype dtype, void *data, int64_t i, double value) {
  switch (dtype) {
  case kCollF64:
    static_cast<double *>(data)[i] = value;
    return;
  case kCollF16:
    static_cast<uint16_t *>(data)[i] = rt::f32ToF16(static_cast<float>(value));
    return;
  case kCollBf16:
    static_cast<uint16_t *>(data)[i] = rt::f32ToBf16(static_cast<float>(value));
    return;
  default:
    static_cast<float *>(data)[i] = static_cast<float>(value);
  }
}

} // namespace

void convolutionReference(const Convolution &c, const ConvolutionBuffers &buffers) {
  const convolution::Shape shape = convolution::shapeOf(c);
  auto at = [&](const void *data, int64_t i) { return load(c.dtype, data, i); };
  for (int64_t i = 0; i < c.numResults(); ++i)
    store(c.dtype, buffers.result, i,
          convolution::sumOf<double>(c.kind, shape, buffers.a, buffers.b, i, at));
}

} // namespace coll::kernels
