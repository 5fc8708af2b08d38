//===- status.h - the runtime's outcomes as errors of LLVM -------------*- C++ -*-===//

#ifndef COLL_DRIVER_STATUS_H
#define COLL_DRIVER_STATUS_H

#include "compiler/error.h"
#include "runtime/base/status.h"

namespace coll::run {

/// Success, or the status' text. The name of its code is kept if it says what happened ("timeout",
/// "mismatch"). It is left out of errors whose message says enough: invalid calls, unsupported
/// requests and device errors.
inline llvm::Error toError(const rt::Status &status) {
  if (status.ok())
    return llvm::Error::success();
  bool saysIt = status.code() == kCollInvalidCall || status.code() == kCollUnsupported ||
                status.code() == kCollDevice;
  return makeError(saysIt ? status.message() : status.toString());
}

template <typename T>
llvm::Expected<T> toExpected(rt::Result<T> result) {
  if (!result)
    return toError(result.status());
  return result.take();
}

} // namespace coll::run

#endif // COLL_DRIVER_STATUS_H
