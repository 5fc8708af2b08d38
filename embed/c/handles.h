// handles.h - the objects behind the handles of the C API.
//
// A handle is the number of a slot, the slot's generation, and the kind of the object. The
// generation changes when a slot is used again, so that a freed handle is detected. This table is
// the only state that all users of the library in a process share.

#ifndef COLL_EMBED_C_HANDLES_H
#define COLL_EMBED_C_HANDLES_H

#include "embed/c/outcome.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace coll::embed {

enum class Kind : uint8_t {
  None,
  Error,
  Context,
  Executable,
  Instance,
  Tensor,
  Request,
  Owner,
  Remote,
  Reshard
};

// "context", …: for messages.
const char *kindName(Kind kind);

// From any thread.
class HandleTable {
public:
  // The table of this process. It is never destroyed: a thread of the host may use it while the
  // process ends.
  static HandleTable &get();

  // A handle for the object, never 0.
  uint64_t add(Kind kind, std::shared_ptr<void> object);
  // Null if the handle is not one of a living object of the kind.
  std::shared_ptr<void> find(uint64_t id, Kind kind) const;
  // As find(); the handle is freed.
  std::shared_ptr<void> remove(uint64_t id, Kind kind);

private:
  struct Slot {
    std::shared_ptr<void> object; // null: free
    uint32_t generation = 0;
    Kind kind = Kind::None;
  };

  bool isLiveLocked(uint64_t id, Kind kind) const;

  mutable std::shared_mutex mutex_;
  std::vector<Slot> slots_;
  std::deque<uint32_t> free_; // the longest free slot is used first
};

// The object that a handle names, or an error. `what` is the argument's name.
template <typename Object, typename Handle>
Outcome findObject(Handle handle, const char *what, std::shared_ptr<Object> &object) {
  object = std::static_pointer_cast<Object>(HandleTable::get().find(handle.id, Object::kKind));
  if (object)
    return nullptr;
  return fail(COLL_INVALID_HANDLE,
              std::string(what) + " is no " + kindName(Object::kKind) + ", or was freed");
}

template <typename Object, typename Handle>
void makeHandle(std::shared_ptr<Object> object, Handle *handle) {
  handle->id = HandleTable::get().add(Object::kKind, std::move(object));
}

// Frees the handle; the object may live on where a call uses it. 0 is no error.
template <typename Object, typename Handle>
Outcome freeHandle(Handle handle, const char *what, std::shared_ptr<Object> &object) {
  object.reset();
  if (handle.id == 0)
    return nullptr;
  object = std::static_pointer_cast<Object>(HandleTable::get().remove(handle.id, Object::kKind));
  if (object)
    return nullptr;
  return fail(COLL_INVALID_HANDLE,
              std::string(what) + " is no " + kindName(Object::kKind) + ", or was freed before");
}

} // namespace coll::embed

#endif // COLL_EMBED_C_HANDLES_H
