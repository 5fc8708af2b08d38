// worker.h - the thread that reads the rings and writes the trace, the summary and the figures for
// Prometheus. The plugin does all its input and output here.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_WORKER_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_WORKER_H

#include "runtime/profiler/nccl_plugin/collector.h"
#include "runtime/profiler/nccl_plugin/rings.h"
#include "runtime/profiler/nccl_plugin/settings.h"
#include "runtime/profiler/nccl_plugin/tick_clock.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace coll::profiler::plugin {

// Errors are logged, one line each, and end only the output that failed: without a trace there is
// still a summary. start() and stop() are called by one thread at a time.
class Worker {
public:
  Worker(Rings &rings, Communicators &communicators, const Names &names, TickClock &clock,
         const Settings &settings);

  // False if the thread cannot be started; one line says so.
  bool start();
  // Reads and writes everything that was reported before, then ends the thread. start() may follow.
  void stop();

private:
  class NoSink : public perfetto::Sink {
    rt::Status write(std::string_view) override { return rt::Status::okay(); }
  };
  // The oldest record of a ring that has not been processed; its time is in ticks.
  struct Cursor {
    Record next;
    bool has = false;
  };

  void run();
  // Processes the records until now; returns how many.
  size_t pass();
  size_t mergeRings(uint64_t cutoffTicks);
  bool advance(size_t ring);
  void tellOpenKernels(uint64_t ns, bool areAll);
  void reportDrops(uint64_t ns);
  void writeOut(bool isLast);
  void writeText(const std::string &path, const std::string &text);

  Rings &rings_;
  Communicators &communicators_;
  TickClock &clock_;
  Settings settings_;
  std::optional<perfetto::FileSink> file_;
  NoSink none_;
  std::optional<perfetto::Writer> writer_;
  Summary summary_;
  std::optional<Collector> collector_;
  std::vector<Cursor> cursors_;
  // By ring and place: the channel that was there at the last check.
  struct OpenKernel {
    uint64_t id = 0;
    bool isTold = false;
  };
  std::vector<OpenKernel> openKernels_;
  uint64_t dropped_ = 0, flushedNs_ = 0, snapshotNs_ = 0, exportedNs_ = 0;
  bool hasWarned_ = false;

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool isStopping_ = false;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_WORKER_H
