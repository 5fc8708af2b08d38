// trace.h - hooks that a profiler may listen on.
//
// Without a sink a hook costs one load. A sink is called on the rank's thread, as a rank
// enters and leaves the program's functions, and for each operation on its way; it
// returns nothing and cannot change a result.

#ifndef COLL_RUNTIME_BASE_TRACE_H
#define COLL_RUNTIME_BASE_TRACE_H

#include <atomic>
#include <cstdint>

namespace coll::rt {

// A blocking operation has Begin and End. An asynchronous one has Begin and Started when it is
// started, and Wait and End when it is waited for. A rank leaves a function with Leave, or with
// Fail if it returned an error.
enum class TracePhase : uint8_t { EnterInit, EnterStep, Leave, Fail, Begin, Started, Wait, End };

struct TraceEvent {
  int32_t rank;
  int32_t op; // index in the program's operation table; -1 if the rank enters or leaves
  TracePhase phase;
  int64_t bytes = 0;   // payload that this rank contributes
  uint64_t number = 0; // the same in all phases of one call, and in no other call of the rank
  int32_t peer = -1;   // send, recv: rank of the other side
  int64_t tag = 0;     // send, recv
};

class TraceSink {
public:
  virtual ~TraceSink() = default;
  // May run on several ranks' threads at once.
  virtual void onEvent(const TraceEvent &event) = 0;
};

// The sink must outlive every operation that begins while it is set. Null removes it.
void setTraceSink(TraceSink *sink);

namespace detail {
extern std::atomic<TraceSink *> traceSink;
}

inline void trace(const TraceEvent &event) {
  if (TraceSink *sink = detail::traceSink.load(std::memory_order_acquire))
    sink->onEvent(event);
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_TRACE_H
