#include "runtime/base/trace.h"

#include <ctime>
#include <mutex>

namespace coll::rt {

std::atomic<int> detail::numTraceSinks{0};

namespace {

std::mutex sinksMutex; // of adding and removing
std::atomic<TraceSink *> sinks[kMaxTraceSinks];

bool replaceSink(TraceSink *from, TraceSink *to) {
  for (std::atomic<TraceSink *> &sink : sinks) {
    if (sink.load(std::memory_order_relaxed) != from)
      continue;
    sink.store(to, std::memory_order_release);
    return true;
  }
  return false;
}

} // namespace

bool addTraceSink(TraceSink *sink) {
  std::lock_guard<std::mutex> lock(sinksMutex);
  if (!replaceSink(nullptr, sink))
    return false;
  detail::numTraceSinks.fetch_add(1, std::memory_order_release);
  return true;
}

void removeTraceSink(TraceSink *sink) {
  std::lock_guard<std::mutex> lock(sinksMutex);
  if (sink && replaceSink(sink, nullptr))
    detail::numTraceSinks.fetch_sub(1, std::memory_order_release);
}

// Threads take ids in blocks, so that they do not share a counter.
uint64_t newTraceId() {
  constexpr uint64_t kBlock = 1 << 16;
  static std::atomic<uint64_t> nextBlock{1};
  static thread_local uint64_t next = 0;
  if (next % kBlock == 0)
    next = nextBlock.fetch_add(1, std::memory_order_relaxed) * kBlock;
  return next++;
}

int64_t traceClockNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void trace(TraceEvent event) {
  if (event.timeNs == 0)
    event.timeNs = traceClockNs();
  for (std::atomic<TraceSink *> &slot : sinks)
    if (TraceSink *sink = slot.load(std::memory_order_acquire))
      sink->onEvent(event);
}

} // namespace coll::rt
