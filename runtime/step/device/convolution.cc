#include "runtime/step/device/convolution.h"

#include "runtime/base/dtype.h"

#include <algorithm>

namespace coll::rt {

Result<kernels::Convolution> convolutionOf(const CollConvolution &c) {
  using Kind = kernels::Convolution::Kind;
  static constexpr Kind kKinds[] = {Kind::Forward, Kind::Data, Kind::Filter};
  if (!isValidDtype(c.dtype))
    return Status::invalid("there is no element type " + std::to_string(c.dtype));
  if (c.kind < kCollConvolutionForward || c.kind > kCollConvolutionFilter)
    return Status::invalid("there is no kind " + std::to_string(c.kind) + " of convolution");
  if (c.compute < kCollComputeF32 || c.compute > kCollComputeF64 ||
      (c.compute == kCollComputeF64) != (c.dtype == kCollF64))
    return Status::invalid("there is no form " + std::to_string(c.compute) +
                           " of computing a convolution of " + dtypeName(c.dtype));
  if (c.reserved != 0)
    return Status::invalid("the reserved word is not 0");
  kernels::Convolution out;
  out.dtype = static_cast<CollDtype>(c.dtype);
  out.tf32 = out.dtype == kCollF32 && c.compute != kCollComputeF32;
  out.kind = kKinds[c.kind];
  out.batch = c.batch;
  out.groups = c.groups;
  out.channels = c.channels;
  out.features = c.features;
  std::copy_n(c.in, out.in.size(), out.in.begin());
  std::copy_n(c.window, out.window.size(), out.window.begin());
  std::copy_n(c.out, out.out.size(), out.out.begin());
  std::copy_n(c.stride, out.stride.size(), out.stride.begin());
  std::copy_n(c.dilation, out.dilation.size(), out.dilation.begin());
  std::copy_n(c.pad, out.pad.size(), out.pad.begin());
  return out;
}

} // namespace coll::rt
