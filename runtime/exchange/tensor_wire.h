// tensor_wire.h - what an owner and those who open its tensors inside a node say to each other.
//
// The client connects to the owner's socket, asks once, and is answered once, with a descriptor
// where the memory has one. The connection then stays: its end tells each side of the other's.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_WIRE_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_WIRE_H

#include "runtime/gpu/memory.h"

#include <cstdint>
#include <string_view>

namespace coll::rt::exchange {

struct TensorQuestion {
  static constexpr uint32_t kMagic = 0x31717443; // "Ctq1"
  uint32_t magic = kMagic;
  uint32_t unused = 0;
  uint64_t id = 0, key = 0;
  uint64_t handleSum = 0; // of the handle's bytes: it is the one that was published
};

enum class TensorMemory : int32_t { Shared = 1, Gpu = 2 };

struct TensorAnswer {
  int32_t code = 0; // a CollCode; then `text` says why
  TensorMemory memory = TensorMemory::Shared;
  int64_t offset = 0;   // Shared: of the first element
  gpu::Export exported; // Gpu
  char text[120] = {};
};

// FNV-1a (Fowler, Noll, Vo), 64 bits: against damage, not against malice.
inline uint64_t sumOf(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char byte : bytes)
    hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
  return hash;
}

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_WIRE_H
