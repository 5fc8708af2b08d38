#include "runtime/kernels/convolution/convolution.h"

#include "runtime/base/dtype.h"
#include "runtime/dl/cudnn.h"
#include "runtime/kernels/available.h"

namespace coll::kernels {

namespace {

// "28x28"; leading dimensions of size 1 are left out.
std::string text(const Convolution::Sizes &sizes, int dims) {
  std::string out;
  for (size_t d = Convolution::kSpatial - static_cast<size_t>(dims); d < Convolution::kSpatial; ++d)
    out += (out.empty() ? "" : "x") + std::to_string(sizes[d]);
  return out;
}

int spatialDims(const Convolution &c) {
  int dims = Convolution::kSpatial;
  for (size_t d = 0; dims > 1 && c.in[d] == 1 && c.window[d] == 1 && c.out[d] == 1; ++d)
    --dims;
  return dims;
}

const char *nameOf(Convolution::Kind kind) {
  switch (kind) {
  case Convolution::Kind::Forward:
    return "convolution";
  case Convolution::Kind::Data:
    return "gradient of the data of a convolution";
  case Convolution::Kind::Filter:
    return "gradient of the filter of a convolution";
  }
  return "?";
}

} // namespace

rt::Status convolutionsAvailable() {
  COLL_RETURN_IF_ERROR(kernelsAvailable());
  return rt::dl::cudnn().status();
}

std::string describe(const Convolution &c) {
  const int dims = spatialDims(c);
  std::string out = std::string(nameOf(c.kind)) + ", " + rt::dtypeName(c.dtype) +
                    (c.tf32 ? " in tf32, " : ", ") + std::to_string(c.batch) + " x " +
                    text(c.in, dims) + " x " + std::to_string(c.groups * c.channels) + " by " +
                    text(c.window, dims);
  if (c.stride != Convolution::Sizes{1, 1, 1})
    out += ", stride " + text(c.stride, dims);
  if (c.dilation != Convolution::Sizes{1, 1, 1})
    out += ", dilation " + text(c.dilation, dims);
  if (c.groups > 1)
    out += ", " + std::to_string(c.groups) + " groups";
  return out + ", to " + text(c.out, dims) + " x " + std::to_string(c.groups * c.features);
}

rt::Status checkConvolution(const Convolution &c, const ConvolutionBuffers &buffers) {
  if (c.dtype != kCollF32 && c.dtype != kCollF64 && c.dtype != kCollF16 && c.dtype != kCollBf16)
    return {kCollUnsupported, std::string("element type ") + rt::dtypeName(c.dtype) +
                                  " is not f32, f64, f16 or bf16"};
  constexpr int64_t kMost = int64_t{1} << 31, kMostElems = int64_t{1} << 48;
  int64_t x = 1, w = 1, y = 1;
  auto grow = [&](int64_t &elems, int64_t size) {
    if (size < 0 || size > kMost || (size > 0 && elems > kMostElems / size))
      return rt::Status::invalid("a size is " + std::to_string(size));
    elems *= size;
    return rt::Status::okay();
  };
  for (int64_t size : {c.batch, c.groups, c.channels})
    COLL_RETURN_IF_ERROR(grow(x, size));
  for (int64_t size : {c.groups, c.features, c.channels})
    COLL_RETURN_IF_ERROR(grow(w, size));
  for (int64_t size : {c.batch, c.groups, c.features})
    COLL_RETURN_IF_ERROR(grow(y, size));
  for (size_t d = 0; d < Convolution::kSpatial; ++d) {
    COLL_RETURN_IF_ERROR(grow(x, c.in[d]));
    COLL_RETURN_IF_ERROR(grow(w, c.window[d]));
    COLL_RETURN_IF_ERROR(grow(y, c.out[d]));
    if (c.stride[d] < 1 || c.dilation[d] < 1 || c.stride[d] > kMost || c.dilation[d] > kMost)
      return rt::Status::invalid("strides and dilations must be at least 1");
    if (c.pad[d] < 0 || c.pad[d] > kMost)
      return rt::Status::invalid("a padding is " + std::to_string(c.pad[d]));
  }
  if (!isEmpty(c) && (!buffers.result || !buffers.a || !buffers.b))
    return rt::Status::invalid("a tensor is null");
  return {};
}

} // namespace coll::kernels
