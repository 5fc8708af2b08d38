// platform.h - what a backend or an exchange may use of this machine, or a test's replacement of
// it.

#ifndef COLL_RUNTIME_DL_PLATFORM_H
#define COLL_RUNTIME_DL_PLATFORM_H

#include "runtime/base/replacement.h"
#include "runtime/dl/cuda.h"

namespace coll::rt::dl {

// The test's replacement of `T`, or else the result of `make` for the CUDA driver (of type
// Result<T>). Without a driver, its status.
template <typename T, typename Make>
Result<T> platformOr(Make make) {
  if (const T *set = Replacement<T>::current())
    return *set;
  Result<const Cuda *> cuda = dl::cuda();
  if (!cuda)
    return cuda.status();
  return make(*cuda);
}

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_PLATFORM_H
