#include "runtime/base/status.h"

namespace coll::rt {

const char *codeName(int32_t code) {
  switch (code) {
  case kCollOk:
    return "ok";
  case kCollInvalidCall:
    return "invalid call";
  case kCollUnsupported:
    return "unsupported";
  case kCollLink:
    return "link failure";
  case kCollPeer:
    return "peer failure";
  case kCollTimeout:
    return "timeout";
  case kCollMismatch:
    return "mismatch";
  case kCollAborted:
    return "aborted";
  case kCollDevice:
    return "device failure";
  case kCollInternal:
    return "internal error";
  }
  return "unknown code";
}

Status Status::annotate(std::string_view context) const {
  if (ok())
    return *this;
  return {code_, std::string(context) + ": " + message_};
}

std::string Status::toString() const {
  if (ok())
    return "ok";
  return std::string(codeName(code_)) + ": " + message_;
}

} // namespace coll::rt
