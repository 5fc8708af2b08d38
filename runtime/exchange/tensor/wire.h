// wire.h - the messages between an owner and the processes that open its tensors.
//
// Inside a node, the client connects to the owner's socket, asks once, and gets one answer, with a
// descriptor if the memory has one. The connection then stays open: its end shows each side that
// the other has ended.
//
// Over a transport that does not reach the memory of both sides by itself, the client asks for each
// box, and the owner's thread answers; if it agrees, the box's bytes follow in chunks (box_flow.h),
// in either direction, and a second answer reports the outcome. After a second answer other than
// kCollOk the connection is closed.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_WIRE_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_WIRE_H

#include "runtime/base/fnv.h"
#include "runtime/base/strided_box.h"
#include "runtime/gpu/memory.h"

#include <cstdint>
#include <cstdio>
#include <string_view>

namespace coll::rt::exchange {

struct TensorQuestion {
  static constexpr uint32_t kMagic = 0x31717443; // "Ctq1"
  uint32_t magic = kMagic;
  uint32_t unused = 0;
  uint64_t id = 0, key = 0;
  uint64_t handleSum = 0; // of the handle's bytes, to check that it is the published handle
};

enum class TensorMemory : int32_t { Shared = 1, Gpu = 2 };

struct TensorAnswer {
  int32_t code = 0; // a CollCode; then `text` says why
  TensorMemory memory = TensorMemory::Shared;
  int64_t offset = 0;   // Shared: of the first element
  gpu::Export exported; // Gpu
  char text[120] = {};
};

// Over a transport.
struct BoxQuestion {
  static constexpr uint32_t kMagic = 0x31627443; // "Ctb1"
  static constexpr int kSlots = 4;               // on each side
  static constexpr int64_t kChunkBytes = 2 << 20;
  static constexpr uint64_t kTag = 1, kAnswerTag = 2, kDataTag = 3;

  uint32_t magic = kMagic;
  uint32_t isWrite = 0;
  uint64_t id = 0, key = 0, handleSum = 0; // as above
  // In the tensor's memory; bytes.
  int64_t offset = 0, rowBytes = 0, numLoops = 0;
  int64_t count[kMaxBoxLoops] = {}, stride[kMaxBoxLoops] = {};
};

struct BoxAnswer {
  int32_t code = 0; // as above
  char text[124] = {};

  void set(const Status &status) {
    code = status.code();
    std::snprintf(text, sizeof(text), "%s", status.message().c_str());
  }
  Status status() {
    text[sizeof(text) - 1] = 0;
    return code == kCollOk ? Status() : Status(static_cast<CollCode>(code), text);
  }
};

// Detects damage.
inline uint64_t sumOf(std::string_view bytes) {
  uint64_t hash = kFnvStart;
  for (char byte : bytes)
    hash = fnvMixed(hash, static_cast<uint8_t>(byte));
  return hash;
}

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_WIRE_H
