// outcome.h - how a function of the C API ends: nothing, or why it failed.

#ifndef COLL_EMBED_C_OUTCOME_H
#define COLL_EMBED_C_OUTCOME_H

#include "embed/c/coll.h"
#include "runtime/base/status.h"

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace coll::embed {

// The failure behind a coll_error.
struct Failure {
  int32_t code = COLL_INTERNAL;
  std::string message;
  std::string location;
  std::vector<std::string> notes;
};

// Null: the call succeeded.
using Outcome = std::unique_ptr<Failure>;

inline Outcome fail(int32_t code, std::string message) {
  return std::make_unique<Failure>(Failure{code, std::move(message), "", {}});
}
inline Outcome invalid(std::string message) {
  return fail(COLL_INVALID_ARGUMENT, std::move(message));
}
// The codes of a status and of coll_code have the same numbers.
inline Outcome fail(const rt::Status &status) {
  return status.ok() ? nullptr : fail(status.code(), status.message());
}

// A handle for the failure, or one whose id is 0. Never throws.
coll_error toError(Outcome outcome) noexcept;
coll_error outOfMemory() noexcept;

// Calls `body`, which returns an Outcome. No exception leaves it.
template <typename Body>
coll_error guarded(Body body) noexcept {
  try {
    return toError(body());
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::exception &error) {
    try {
      return toError(fail(COLL_INTERNAL, error.what()));
    } catch (...) {
      return outOfMemory();
    }
  }
}

// Returns the outcome of `expression` from the enclosing function unless it succeeded.
#define COLL_EMBED_TRY(expression)                                                                 \
  do {                                                                                             \
    if (::coll::embed::Outcome collOutcome_ = (expression))                                        \
      return collOutcome_;                                                                         \
  } while (false)

} // namespace coll::embed

#endif // COLL_EMBED_C_OUTCOME_H
