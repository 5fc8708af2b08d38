// tensor_view.h - a dense tensor in host memory that the caller owns.

#ifndef COLL_RUNTIME_PROGRAM_TENSOR_VIEW_H
#define COLL_RUNTIME_PROGRAM_TENSOR_VIEW_H

#include "runtime/program/host_tensor.h"

namespace coll::rt {

// Row-major elements, `bytes` in all; the shape and the elements outlive the view.
struct TensorView {
  CollDtype dtype = kCollF32;
  const int64_t *shape = nullptr;
  size_t numDims = 0;
  const char *data = nullptr;
  int64_t bytes = 0;

  static TensorView of(const HostTensor &tensor) {
    return {tensor.dtype, tensor.shape.data(), tensor.shape.size(), tensor.data.data(),
            static_cast<int64_t>(tensor.data.size())};
  }
};

} // namespace coll::rt

#endif // COLL_RUNTIME_PROGRAM_TENSOR_VIEW_H
