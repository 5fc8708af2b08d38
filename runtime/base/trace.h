// trace.h - hooks that a profiler may listen on.
//
// Without a sink a hook costs one load. A sink is called on the rank's thread, for
// each operation when it begins and when it has ended; it returns nothing and
// cannot change a result.

#ifndef COLL_RUNTIME_BASE_TRACE_H
#define COLL_RUNTIME_BASE_TRACE_H

#include <atomic>
#include <cstdint>

namespace coll::rt {

enum class TracePhase : uint8_t { Begin, End };

struct TraceEvent {
  int32_t rank;
  int32_t op; // index of the program's operation table
  TracePhase phase;
  int64_t bytes; // payload that this rank contributes
};

class TraceSink {
public:
  virtual ~TraceSink() = default;
  // May run on several ranks' threads at once.
  virtual void onEvent(const TraceEvent &event) = 0;
};

// The sink must outlive every operation that begins while it is set. Null: none.
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
