// stream_trace.h - reports to the trace (base/trace.h) when a rank's GPU runs the work on its
// stream.
//
// Each piece of work is put between two stamps: kernels of one thread that write the GPU's clock
// into pinned memory. In a graph, they stamp every replay. When the host has waited for the stream,
// finish() reads the stamps and reports Device spans and the ends of calls.
//
// Bounded: a run has at most kMostWorks pieces of work with stamps; further ones are counted and
// reported as dropped. For each piece of work the host makes two more launches (a few us); without
// a listener it makes none.
//
// Clocks: the GPU's clock is read between two readings of the host's, at the start and once a run.
// The reading with the smallest error, including the possible drift since then, is used.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_STREAM_TRACE_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_STREAM_TRACE_H

#include "runtime/backend/backend.h"
#include "runtime/base/trace.h"
#include "runtime/gpu/gpu.h"

#include <memory>
#include <vector>

namespace coll::rt {

// Belongs to the rank's thread, on which the GPU is current.
class StreamTrace {
public:
  static constexpr size_t kMostWorks = 1 << 15;

  // The work between two stamps; a call if it has a group.
  struct Work {
    CallSite site;
    const TraceGroup *group = nullptr;
    Call call;
    int64_t bytes = 0;
    bool hasEnded = false;
  };
  struct Works {
    std::vector<Work> list;
    int64_t dropped = 0;
  };

  // Loads the kernel and reads the clock. The stream is empty, or nearly so.
  static Result<std::unique_ptr<StreamTrace>> create(gpu::Gpu &gpu, dl::CudaStream stream);
  ~StreamTrace(); // the GPU is current, and the stream is empty
  StreamTrace(const StreamTrace &) = delete;
  StreamTrace &operator=(const StreamTrace &) = delete;

  // A function of the program, whose span is `function`, begins.
  void start(int rank, uint64_t function);
  // Returns the work's number, for end().
  size_t begin(const CallSite &site) { return add({site, nullptr, {}, 0, false}); }
  void end(size_t number);
  void beginCall(const Call &call, const TraceGroup &group, int64_t bytes) {
    add({call.site, &group, call, bytes, false});
  }
  void endCall(const Call &call);
  // The work that was captured since start(); none of it has run.
  Works takeWorks();
  // The captured work runs again, for the `number`th time; `works` outlives finish(). Returns the
  // Launch span of the replay, which has begun.
  uint64_t replay(const Works &works, int64_t number);
  // The host has waited for the stream or, if not `isOk`, the run has failed.
  void finish(bool isOk);

private:
  // At the host's time `hostNs`, the GPU's clock is `aheadNs` ahead of the host's, with an error of
  // up to `errorNs`.
  struct ClockReading {
    int64_t aheadNs = 0, errorNs = 0, hostNs = 0;
    int64_t errorAt(int64_t ns) const;
  };

  StreamTrace(gpu::Gpu &gpu, dl::CudaStream stream) : gpu_(gpu), stream_(stream) {}
  Status open();
  Status readClock();
  Status stamp(size_t slot) const;
  size_t add(const Work &work);

  void tell(const Works &works, bool isReplay);
  void tellWork(const Work &work, int64_t beginNs, int64_t endNs, bool isReplay);
  void tellDevice(const Work &work, uint64_t parent, int64_t deviceNs[2], bool isReplay);
  void tellCall(const Work &work, TracePhase phase, uint64_t id, int64_t timeNs, bool isReplay);
  int64_t toHost(int64_t deviceNs) const { return deviceNs - clock_.aheadNs; }

  gpu::Gpu &gpu_;
  const dl::CudaStream stream_;
  dl::CudaModule module_ = nullptr;
  dl::CudaFunction function_ = nullptr;
  dl::GpuMemory slots_; // two of each work, and one for readings of the clock
  ClockReading clock_;
  int rank_ = 0;
  uint64_t functionSpan_ = 0;
  Works works_;                     // of this run
  const Works *replayed_ = nullptr; // null: the run is eager
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_STREAM_TRACE_H
