// host_tensor.h - a dense tensor in host memory, by value.

#ifndef COLL_RUNTIME_PROGRAM_HOST_TENSOR_H
#define COLL_RUNTIME_PROGRAM_HOST_TENSOR_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::rt {

// Row-major; data.size() is the number of elements times their size.
struct HostTensor {
  CollDtype dtype = kCollF32;
  std::vector<int64_t> shape;
  std::vector<char> data;

  // A tensor of zeros. Fails if the shape is negative or absurdly large.
  static Result<HostTensor> zeros(CollDtype dtype, std::vector<int64_t> shape);

  // The elements as T, which must be the type that dtype names.
  template <typename T>
  T *as() {
    return reinterpret_cast<T *>(data.data());
  }
  template <typename T>
  const T *as() const {
    return reinterpret_cast<const T *>(data.data());
  }
  // "f32[4, 3]"
  std::string typeString() const;
};

// "f32[4, 3]"
std::string typeString(CollDtype dtype, const std::vector<int64_t> &shape);

} // namespace coll::rt

#endif // COLL_RUNTIME_PROGRAM_HOST_TENSOR_H
