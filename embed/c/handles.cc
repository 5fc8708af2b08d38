#include "embed/c/handles.h"

namespace coll::embed {

namespace {

// kind: 8 bits, generation: 28 bits, slot: 28 bits.
constexpr int kGenerationShift = 28, kKindShift = 56;
constexpr uint32_t kMask = (1u << kGenerationShift) - 1;
// A slot is reused only after this many others were freed.
constexpr size_t kLeastFree = 64;

uint64_t makeId(Kind kind, uint32_t generation, uint32_t slot) {
  return uint64_t(kind) << kKindShift | uint64_t(generation) << kGenerationShift | slot;
}

} // namespace

const char *kindName(Kind kind) {
  switch (kind) {
  case Kind::None:
    break;
  case Kind::Error:
    return "error";
  case Kind::Context:
    return "context";
  case Kind::Executable:
    return "executable";
  case Kind::Instance:
    return "instance";
  case Kind::Tensor:
    return "tensor";
  case Kind::Request:
    return "request";
  case Kind::Owner:
    return "owner";
  case Kind::Remote:
    return "remote";
  case Kind::Reshard:
    return "reshard";
  }
  return "object";
}

HandleTable &HandleTable::get() {
  static HandleTable &table = *new HandleTable();
  return table;
}

uint64_t HandleTable::add(Kind kind, std::shared_ptr<void> object) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  uint32_t index = 0;
  if (free_.size() > kLeastFree) {
    index = free_.front();
    free_.pop_front();
  } else {
    if (slots_.size() > kMask)
      throw std::bad_alloc();
    index = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  Slot &slot = slots_[index];
  slot.object = std::move(object);
  slot.kind = kind;
  ++slot.generation;
  return makeId(kind, slot.generation, index);
}

bool HandleTable::isLiveLocked(uint64_t id, Kind kind) const {
  const uint64_t slot = id & kMask;
  if (static_cast<Kind>(id >> kKindShift) != kind || slot >= slots_.size())
    return false;
  const Slot &found = slots_[slot];
  return found.object && found.kind == kind &&
         found.generation == ((id >> kGenerationShift) & kMask);
}

std::shared_ptr<void> HandleTable::find(uint64_t id, Kind kind) const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  return isLiveLocked(id, kind) ? slots_[id & kMask].object : nullptr;
}

std::shared_ptr<void> HandleTable::remove(uint64_t id, Kind kind) {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  if (!isLiveLocked(id, kind))
    return nullptr;
  const uint32_t index = static_cast<uint32_t>(id & kMask);
  Slot &slot = slots_[index];
  // A slot that has had every generation is not used again.
  if (slot.generation < kMask)
    free_.push_back(index);
  std::shared_ptr<void> object = std::move(slot.object);
  slot.object = nullptr;
  slot.kind = Kind::None;
  return object; // destroyed by the caller, outside of the lock
}

} // namespace coll::embed
