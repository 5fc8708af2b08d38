// collector.h - converts records to slices: pairs starts with stops, determines when a collective
// has ended, sums up waits, and corrects or flags known errors of NCCL.
//
// A collective's stop means that it has been enqueued. It ends with the last of its children (proxy
// ops, kernel channels); it counts as ended when all kernel channels that it announced have
// stopped, or when no child has been reported for two seconds. `completion` in the trace says
// which: kernel, proxy, or enqueued if there was no child and the end is not known.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_COLLECTOR_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_COLLECTOR_H

#include "runtime/profiler/nccl_plugin/communicators.h"
#include "runtime/profiler/nccl_plugin/gpu_clock.h"
#include "runtime/profiler/nccl_plugin/lanes.h"
#include "runtime/profiler/nccl_plugin/names.h"
#include "runtime/profiler/nccl_plugin/open_events.h"
#include "runtime/profiler/nccl_plugin/summary.h"

#include <array>
#include <map>
#include <memory>

namespace coll::profiler::plugin {

// One thread at a time.
class Collector {
public:
  Collector(perfetto::Writer &writer, Summary &summary, const Names &names)
      : writer_(writer), summary_(summary), names_(names) {}

  void begin(uint16_t communicator, const CommunicatorInfo &info);
  // Records must be added in the order of their times.
  void add(const Record &record);
  void dropped(uint64_t events, uint64_t ns);
  // Writes collectives that get no more children. Call it from time to time.
  void sweep(uint64_t nowNs);
  // Writes the remaining events of the communicator.
  void finish(uint16_t communicator, uint64_t nowNs);
  // The same for all communicators, at the end of the process.
  void finishAll(uint64_t nowNs);

private:
  // The open calls of a thread, the innermost last. A call that stops before one inside it ends
  // with that one.
  struct Thread {
    perfetto::TrackId track = 0;
    std::vector<std::pair<uint64_t, bool>> calls; // handle, and whether it has stopped
  };
  // The GPU's stamps of a kernel; `overlap`: it starts before the kernel before it stops.
  struct Stamps {
    uint64_t start = 0, stop = 0;
    bool overlap = false;
  };
  struct Communicator {
    CommunicatorInfo info;
    perfetto::TrackId process = 0;
    OpenEvents open;
    GpuClock gpu;
    // By kind of event and number (thread, channel).
    std::map<std::pair<int, int>, Lanes> lanes;
    std::map<int, Thread> threads;
    std::array<Stamps, 256> lastOfChannel{};
  };
  using Place = uint32_t;

  Communicator &of(uint16_t number);
  void start(Communicator &communicator, const Record &record);
  void state(Communicator &communicator, const Record &record);
  void stop(Communicator &communicator, const Record &record);
  void kernel(Communicator &communicator, const Record &record);
  void leaveState(OpenEvent &event, uint64_t ns);
  void finishEvent(Communicator &communicator, Place place, uint64_t endNs);
  void finishUnpaired(Communicator &communicator, Place place, uint64_t endNs);
  bool hasEnded(const Communicator &communicator, const OpenEvent &event) const;
  void tellParent(Communicator &communicator, const OpenEvent &child, uint64_t endNs);
  Thread &thread(Communicator &communicator, uint64_t id);
  void endCall(Communicator &communicator, const OpenEvent &event, uint64_t endNs);
  Lanes &lanes(Communicator &communicator, const OpenEvent &event);

  void writeCall(Communicator &communicator, OpenEvent &event);
  void writeOperation(Communicator &communicator, OpenEvent &event, uint64_t endNs);
  void writeProxyOp(Communicator &communicator, OpenEvent &event, uint64_t endNs);
  void writeProxyStep(Communicator &communicator, OpenEvent &event, uint64_t endNs);
  static void checkOrder(Communicator &communicator, OpenEvent &event);
  void writeKernel(Communicator &communicator, OpenEvent &event, uint64_t endNs);
  void writeOther(Communicator &communicator, OpenEvent &event, uint64_t endNs);
  void slice(Communicator &communicator, OpenEvent &event, std::string_view name, uint64_t startNs,
             uint64_t endNs);
  void annotateIdentity(const Communicator &communicator, const OpenEvent &event);
  std::string_view text(uint16_t name) const { return names_.text(name); }

  perfetto::Writer &writer_;
  Summary &summary_;
  const Names &names_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::vector<perfetto::Annotation> notes_; // of the slice that is written
  std::string flags_;
  int processes_ = 0;
  uint64_t unpaired_ = 0;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_COLLECTOR_H
