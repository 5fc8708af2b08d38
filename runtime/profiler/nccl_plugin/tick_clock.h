// tick_clock.h - the clock of records: the processor's time-stamp counter, where the system itself
// takes its time from it, because it takes a third of the time of asking the system; else the
// system's CLOCK_MONOTONIC.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_TICK_CLOCK_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_TICK_CLOCK_H

#include "runtime/profiler/perfetto/writer.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace coll::profiler::plugin {

// Ticks are in order on all threads. The worker alone turns them into nanoseconds: it notes both
// clocks every now and then, and draws a line through the last two notes.
class TickClock {
public:
  TickClock();

  uint64_t now() const {
#if defined(__x86_64__)
    if (isCounter_)
      return __rdtsc();
#endif
    return perfetto::monotonicNs();
  }
  // By the worker, as the following: notes both clocks, and returns the ticks of the note.
  uint64_t note();
  // The time in CLOCK_MONOTONIC. Exact within some 50 ns for ticks between the last two notes.
  uint64_t toNs(uint64_t ticks) const;

private:
  struct Note {
    uint64_t ticks = 0, ns = 0;
  };
  const bool isCounter_;
  Note last_, before_;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_TICK_CLOCK_H
