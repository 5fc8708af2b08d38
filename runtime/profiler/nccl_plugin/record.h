// record.h - the record of a callback: one per start, state and stop, of fixed size.
//
// A callback writes the record into the ring of its thread (ring.h) and returns; the worker's
// thread converts records to slices (collector.h).

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RECORD_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RECORD_H

#include "runtime/profiler/abi/events.h"

#include <cstddef>
#include <cstdint>

namespace coll::profiler::plugin {

// Kernel: start, stop stamp and stop of a kernel channel in one record, made at the stop.
enum class RecordKind : uint8_t { Start, State, Stop, Kernel };

// Known errors of an event; bits.
enum Flags : uint16_t {
  kTypeCorrected = 1,   // the descriptor's type was no event; its low byte was
  kForeignParent = 2,   // the parent belongs to another process
  kForeignContext = 4,  // the context does not belong to this process
  kZeroStartStamp = 8,  // the GPU gave no start
  kZeroStopStamp = 16,  // the GPU gave no stop
  kReversedStamps = 32, // the GPU's stop is before its start
  kUnfinished = 64,     // no stop was seen
  kClockJump = 128,     // the GPU's clock contradicts the host's
  kLateChild = 256,     // the parent had been written already
  kStampsOverlap = 512, // those of the same channel's call that was reported before
};

// Names are numbers of names.h. Fields that an event's type lacks are 0. The communicator is that
// of the handle.
struct Record {
  // Most records use only the first seven words; see isShort().
  uint64_t ns = 0; // CLOCK_MONOTONIC; until the worker has converted it, ticks (tick_clock.h)
  uint64_t id = 0; // the event's handle
  uint64_t parent = 0;
  RecordKind kind = RecordKind::Start;
  uint8_t type = 0; // number of the event type's bit
  uint16_t flags = 0;
  int16_t state = 0;   // EventState
  uint8_t channel = 0; // or the number of channels
  uint8_t isSend = 0;  // or graphCaptured
  uint64_t stamp = 0;  // of the GPU; of a socket's own thread: CLOCK_MONOTONIC
  uint64_t count = 0;  // elements; bytes of a net event and of a state; Kernel: the stop's stamp
  int32_t number =
      0; // steps of a proxy op, step of a proxy step; depth of a group; ranks of a sync
  uint32_t place = 0; // the record's number among the events of its ring

  uint64_t seq = 0; // of a collective; device id of a net event
  uint64_t userTag = 0;
  int32_t peer = 0; // or root
  int32_t chunkBytes = 0;
  uint16_t func = 0, datatype = 0, algorithm = 0, protocol = 0, variant = 0;
};
inline constexpr size_t kShortBytes = 56;
static_assert(offsetof(Record, seq) == kShortBytes && sizeof(Record) <= 2 * kShortBytes &&
              sizeof(Record) % 8 == 0);

// The fields of a record of kind Kernel.
struct EndedKernel {
  uint64_t ns = 0, id = 0, parent = 0;
  uint8_t channel = 0;
  uint64_t startStamp = 0, stopStamp = 0;
};

inline constexpr uint8_t bitNumber(uint64_t bit) {
  uint8_t number = 0;
  while (bit >>= 1)
    ++number;
  return number;
}

// The word of a record of kind Kernel that holds kind, type and channel, which is bits 48 to 55.
inline constexpr uint64_t kKernelKindWord =
    static_cast<uint64_t>(RecordKind::Kernel) | uint64_t(bitNumber(abi::kKernelCh)) << 8;
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && offsetof(Record, kind) == 24 &&
              offsetof(Record, type) == 25 && offsetof(Record, channel) == 30 &&
              offsetof(Record, stamp) == 32 && offsetof(Record, count) == 40 &&
              offsetof(Record, place) == 52);

// Whether the record has only the first words.
inline bool isShort(const Record &record) {
  constexpr uint64_t kShortStarts = abi::kGroup | abi::kGroupApi | abi::kKernelLaunch |
                                    abi::kProxyStep | abi::kProxyCtrl | abi::kKernelCh |
                                    abi::kCeSync | abi::kCeBatch;
  return record.kind != RecordKind::Start || (uint64_t(1) << record.type & kShortStarts) != 0;
}

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RECORD_H
