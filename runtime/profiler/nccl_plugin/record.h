// record.h - what a callback notes: one record per start, state and stop, of fixed size.
//
// A callback writes the record into the ring of its thread (ring.h) and returns; the worker's
// thread makes slices of the records (collector.h).

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RECORD_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RECORD_H

#include "runtime/profiler/abi/events.h"

#include <cstddef>
#include <cstdint>

namespace coll::profiler::plugin {

enum class RecordKind : uint8_t { Start, State, Stop };

// What is known to be wrong with an event; bits.
enum Flags : uint16_t {
  kTypeCorrected = 1,   // the descriptor's type was no event; its low byte was
  kForeignParent = 2,   // the parent belongs to another process
  kForeignContext = 4,  // the context is none of this process's
  kZeroStartStamp = 8,  // the GPU gave no start
  kZeroStopStamp = 16,  // the GPU gave no stop
  kReversedStamps = 32, // the GPU's stop lies before its start
  kUnfinished = 64,     // no stop was seen
  kClockJump = 128,     // the GPU's clock contradicts the host's
  kLateChild = 256,     // the parent had been written already
};

// Names are numbers of names.h. Fields that an event's type lacks are 0.
struct Record {
  uint64_t ns = 0; // CLOCK_MONOTONIC
  uint64_t id = 0; // the event's handle
  uint64_t parent = 0;
  RecordKind kind = RecordKind::Start;
  uint8_t type = 0; // number of the event type's bit
  uint16_t flags = 0;
  int16_t state = 0; // EventState
  uint16_t communicator = 0;
  uint64_t seq = 0;   // of a collective; step of a proxy step; device id of a net event
  uint64_t count = 0; // elements; bytes of a net event and of a state
  uint64_t userTag = 0;
  uint64_t stamp = 0; // of the GPU; of a socket's own thread: CLOCK_MONOTONIC
  int32_t peer = 0;   // or root
  int32_t number = 0; // steps of a proxy op; depth of a group; pid of a proxy op's parent
  int32_t chunkBytes = 0;
  uint16_t func = 0, datatype = 0, algorithm = 0, protocol = 0, variant = 0;
  uint8_t channel = 0; // or the number of channels
  uint8_t isSend = 0;  // or graphCaptured
};
static_assert(sizeof(Record) % 8 == 0 && sizeof(Record) <= 96);

inline constexpr uint8_t bitNumber(uint64_t bit) {
  uint8_t number = 0;
  while (bit >>= 1)
    ++number;
  return number;
}

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RECORD_H
