// tick_clock.h - the clock of records. It is the processor's time-stamp counter if the system
// itself uses it, because reading it takes a third of the time of a system call; otherwise it is
// the system's CLOCK_MONOTONIC.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_TICK_CLOCK_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_TICK_CLOCK_H

#include "runtime/profiler/perfetto/writer.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace coll::profiler::plugin {

// Ticks are in order on all threads. Only the worker converts them to nanoseconds: it reads both
// clocks from time to time, and interpolates between the last two readings.
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
  // This and the following are called by the worker. Reads both clocks, and returns the ticks.
  uint64_t note();
  // The time in CLOCK_MONOTONIC. Exact within about 50 ns for ticks between the last two readings.
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
