// result.h - the outcome of planning: a value, or a sentence that says why there is none.

#ifndef COLL_PLAN_RESULT_H
#define COLL_PLAN_RESULT_H

#include <optional>
#include <string>
#include <utility>

namespace coll::plan {

// What is wrong with the caller's input, for the user to read.
struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  // Empty where ok().
  const std::string &error() const { return error_.message; }

  // Only where ok().
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }

private:
  std::optional<T> value_;
  Error error_;
};

} // namespace coll::plan

#endif // COLL_PLAN_RESULT_H
