// trace.h - hooks that profilers listen on.
//
// Events are reported in spans: each has an id, begins, may change its state, and ends. A span
// names its parent, which contains it. Without a listener a hook costs one load and one predicted
// branch. A sink returns nothing: it cannot change a result or a status.
//
//   Function            a rank runs @init or @step
//     Compute           the program computes on the host: a kernel, a product, a copy
//     Launch            the host puts a kernel, a product or a copy on the rank's GPU
//     Device            the GPU runs a kernel, product or copy of a Launch or a Call, by its clock
//     Group             the operations that one call of the program is made of (dispatch, combine)
//     Call              an operation, from the call until it is complete on this rank
//       ProxyOp         its messages to or from one peer            (backend net)
//         ProxyStep     one message                                 (backend net)
//           NetPart     the part of a message that one socket moves (backend net, transport tcp)
//     Wait              the program waits until an operation is complete
//
// A backend that lacks a level reports no spans of it. Call, Group and Wait may be reported by the
// rank's thread only; levels below Call by the backend's progress thread, too.
//
// Spans of a GPU are reported once the host has waited for the GPU: a Device span, and the End of a
// Call that was put on a stream, come after the step with times that have passed. A step that
// replays a graph reports its calls in the same way (`isReplay`); the capture of the graph is not
// reported.

#ifndef COLL_RUNTIME_BASE_TRACE_H
#define COLL_RUNTIME_BASE_TRACE_H

#include "runtime/base/codes.h"

#include <atomic>
#include <cstdint>

namespace coll::rt {

enum class TraceLevel : uint8_t {
  Function,
  Group,
  Call,
  Wait,
  Compute,
  Launch,
  Device,
  ProxyOp,
  ProxyStep,
  NetPart,
};
inline constexpr int kNumTraceLevels = static_cast<int>(TraceLevel::NetPart) + 1;

enum class TracePhase : uint8_t {
  Begin,
  Issued,  // Call: started, and not complete; a call that blocks has no such phase
  Posted,  // ProxyStep: handed to the transport
  Landing, // ProxyStep that is received: arrived, and moving to its destination
  End,     // Call: complete on this rank, unless `failed`
  Dropped, // Device: `number` spans were dropped for lack of room
};

// The members of a communicator.
struct TraceGroup {
  uint64_t id = 0; // of the list of ranks; equal on all members
  const int32_t *ranks = nullptr;
  int32_t numRanks = 0;
  int32_t position = 0; // of this rank
};

// The operation that is called.
struct TraceCall {
  CollDtype dtype = kCollF32;
  int64_t count = 0; // elements
  int32_t root = 0;  // position
  const void *src = nullptr;
  void *dst = nullptr;
  void *stream = nullptr;
  bool isTransfer = false; // send or recv; otherwise a collective
};

struct TraceEvent {
  TraceLevel level = TraceLevel::Function;
  TracePhase phase = TracePhase::Begin;
  bool failed = false; // End: with an error
  bool isSend = false; // ProxyOp and below
  int32_t rank = -1;
  bool isReplay = false; // by a graph
  int32_t op = -1;       // of the program's operations, or computations (program.h); -1: none
  uint64_t id = 0;       // of the span; unlike that of any other in this process
  uint64_t parent = 0;   // the span that it is part of, or, of a Wait, the Call; 0: none
  int64_t timeNs = 0;    // CLOCK_MONOTONIC; trace() fills in what is 0
  int64_t deviceNs = 0;  // Device: the time by the GPU's own clock (%globaltimer)
  int64_t errorNs = 0;   // Device: the possible error of timeNs

  // Begin only.
  const char *name = "";             // "all_reduce", "step"; outlives the listener
  int64_t bytes = 0;                 // payload that this rank contributes; of a message
  int32_t peer = -1;                 // send, recv, ProxyOp: rank of the other side
  int32_t number = 0;                // ProxyOp: messages; ProxyStep: which of them; NetPart: socket
  int64_t tag = 0;                   // send, recv
  const TraceGroup *group = nullptr; // Call, Group: outlives the span
  const TraceCall *call = nullptr;   // Call: valid during onEvent()
  // NetPart: as a net plugin passes them to NCCL's profiler; valid during onEvent().
  const void *data = nullptr;
  int64_t dataId = 0; // network type << 16 | version of the data
};

class TraceSink {
public:
  virtual ~TraceSink() = default;
  // May run on several threads at once; the events of one span come one after the other.
  virtual void onEvent(const TraceEvent &event) = 0;
};

inline constexpr int kMaxTraceSinks = 4;

// False if there are kMaxTraceSinks already. A sink must outlive every span that begins while it
// listens. It may receive an End without the Begin.
bool addTraceSink(TraceSink *sink);
void removeTraceSink(TraceSink *sink);

// Listens while it lives.
class ScopedTraceSink {
public:
  explicit ScopedTraceSink(TraceSink *sink) : sink_(addTraceSink(sink) ? sink : nullptr) {}
  ~ScopedTraceSink() { removeTraceSink(sink_); }
  ScopedTraceSink(const ScopedTraceSink &) = delete;
  ScopedTraceSink &operator=(const ScopedTraceSink &) = delete;

private:
  TraceSink *sink_;
};

namespace detail {
extern std::atomic<int> numTraceSinks;
}

// Whether there is a listener.
inline bool tracing() {
  return __builtin_expect(detail::numTraceSinks.load(std::memory_order_acquire) != 0, 0);
}

// A new span's id, never 0.
uint64_t newTraceId();
int64_t traceClockNs();
// Reports the event to all listeners.
void trace(TraceEvent event);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_TRACE_H
