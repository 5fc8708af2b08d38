// error.cc - errors as values.

#include "embed/c/handles.h"

namespace coll::embed {
namespace {

struct Error {
  static constexpr Kind kKind = Kind::Error;
  Failure failure;
};

// For lack of memory there is one error, which needs none. No slot has generation 0.
constexpr uint64_t kOutOfMemory = uint64_t(Kind::Error) << 56;

std::shared_ptr<Error> find(coll_error error) {
  return std::static_pointer_cast<Error>(HandleTable::get().find(error.id, Kind::Error));
}

// The error stays in the table, so its texts outlive the pointer that found it.
template <typename Text>
const char *textOf(coll_error error, const char *outOfMemory, Text text) noexcept {
  if (error.id == kOutOfMemory)
    return outOfMemory;
  const std::shared_ptr<Error> found = find(error);
  return found ? text(found->failure) : "";
}

} // namespace

coll_error outOfMemory() noexcept { return {kOutOfMemory}; }

coll_error toError(Outcome outcome) noexcept {
  if (!outcome)
    return {0};
  try {
    coll_error error = {0};
    makeHandle(std::make_shared<Error>(Error{std::move(*outcome)}), &error);
    return error;
  } catch (...) {
    return outOfMemory();
  }
}

} // namespace coll::embed

using namespace coll::embed;

int32_t coll_error_code(coll_error error) {
  if (error.id == 0)
    return COLL_OK;
  if (error.id == kOutOfMemory)
    return COLL_DEVICE;
  const std::shared_ptr<Error> found = find(error);
  return found ? found->failure.code : COLL_INVALID_HANDLE;
}

const char *coll_error_message(coll_error error) {
  return textOf(error, "out of memory",
                [](const Failure &failure) { return failure.message.c_str(); });
}

const char *coll_error_location(coll_error error) {
  return textOf(error, "", [](const Failure &failure) { return failure.location.c_str(); });
}

size_t coll_error_num_notes(coll_error error) {
  const std::shared_ptr<Error> found = find(error);
  return found ? found->failure.notes.size() : 0;
}

const char *coll_error_note(coll_error error, size_t index) {
  return textOf(error, "", [index](const Failure &failure) {
    return index < failure.notes.size() ? failure.notes[index].c_str() : "";
  });
}

void coll_error_free(coll_error error) { (void)HandleTable::get().remove(error.id, Kind::Error); }
