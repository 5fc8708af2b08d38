// status.h - the outcome of a runtime call, as a value.
//
// A Status is ok, or a CollCode with a message for the user. A Result<T> is a T or
// the Status that explains its absence. Neither throws.

#ifndef COLL_RUNTIME_BASE_STATUS_H
#define COLL_RUNTIME_BASE_STATUS_H

#include "runtime/base/codes.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace coll::rt {

// "invalid call", "timeout", …; "unknown code" for a number that is no CollCode.
const char *codeName(int32_t code);

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(CollCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status okay() { return {}; }
  static Status invalid(std::string message) { return {kCollInvalidCall, std::move(message)}; }
  static Status internal(std::string message) { return {kCollInternal, std::move(message)}; }

  bool ok() const { return code_ == kCollOk; }
  CollCode code() const { return code_; }
  const std::string &message() const { return message_; }

  // The same code, with `context + ": "` before the message. Ok stays ok.
  Status annotate(std::string_view context) const;
  // "timeout: <message>", or "ok".
  std::string toString() const;

private:
  CollCode code_ = kCollOk;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  // `status` must not be ok; if it is, the result holds an internal error.
  Result(Status status)
      : status_(status.ok() ? Status::internal("a result without a value") : std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return status_; }

  // Only where ok().
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  T take() { return std::move(*value_); }

private:
  std::optional<T> value_;
  Status status_;
};

// Returns the status of `expression` from the enclosing function unless it is ok.
#define COLL_RETURN_IF_ERROR(expression)                                                           \
  do {                                                                                             \
    if (::coll::rt::Status collStatus_ = (expression); !collStatus_.ok())                          \
      return collStatus_;                                                                          \
  } while (false)

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_STATUS_H
