// platform.h - what a backend or an exchange finds on this machine, or what a test has set instead.

#ifndef COLL_RUNTIME_DL_PLATFORM_H
#define COLL_RUNTIME_DL_PLATFORM_H

#include "runtime/base/replacement.h"
#include "runtime/dl/cuda.h"

namespace coll::rt::dl {

// The replacement of `T` that is set, or what `make` makes of the CUDA driver (of type Result<T>).
// Without a driver, its status.
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
