#include "runtime/profiler/nccl_plugin/tick_clock.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace coll::profiler::plugin {

namespace {

// The counter must have a constant rate (as the processor reports) and be the same on all cores,
// which Linux checks: if cores differ it uses another clock.
bool canUseCounter() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kPowerLeaf = 0x80000007, kInvariantCounter = 1u << 8;
  if (!__get_cpuid(kPowerLeaf, &eax, &ebx, &ecx, &edx) || !(edx & kInvariantCounter))
    return false;
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return std::getline(file, source) && source == "tsc";
#else
  return false;
#endif
}

} // namespace

TickClock::TickClock() : isCounter_(canUseCounter()) {
  note();
  before_ = last_;
}

uint64_t TickClock::note() {
  before_ = last_;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 3; ++i) {
    const uint64_t begin = now(), ns = perfetto::monotonicNs(), end = now();
    if (end - begin < least) {
      least = end - begin;
      last_ = {begin + (end - begin) / 2, ns};
    }
  }
  return last_.ticks;
}

uint64_t TickClock::toNs(uint64_t ticks) const {
  if (!isCounter_)
    return ticks;
  const double rate = static_cast<double>(last_.ns - before_.ns) /
                      static_cast<double>(std::max<uint64_t>(1, last_.ticks - before_.ticks));
  const int64_t since = static_cast<int64_t>(ticks - last_.ticks);
  return last_.ns + static_cast<uint64_t>(std::llround(static_cast<double>(since) * rate));
}

} // namespace coll::profiler::plugin
