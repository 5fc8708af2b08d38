// stream_trace.h - tells the trace (base/trace.h) when a rank's GPU runs what is put on its stream.
//
// Each piece of work stands between two stamps, kernels of one thread that write the GPU's clock
// into pinned memory. Captured by a graph, they stamp every replay. When the host has waited for
// the stream, finish() reads the stamps and tells of Device spans and of the ends of calls.
//
// Bounded: a run has kMostWorks pieces of work with stamps; those that follow are counted, and told
// of as dropped. The host pays two launches for each piece of work (a few us), nothing without a
// listener.
//
// Clocks: the GPU's is read between two moments of the host's, at the start and once a run. The
// reading that is closest, with what the clocks may have drifted since, counts.

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

  // What is between two stamps: a call if it has a group.
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

  // A function of the program begins, whose span is `function`.
  void start(int rank, uint64_t function);
  // Returns the work's number, for end().
  size_t begin(const CallSite &site) { return add({site, nullptr, {}, 0, false}); }
  void end(size_t number);
  void beginCall(const Call &call, const TraceGroup &group, int64_t bytes) {
    add({call.site, &group, call, bytes, false});
  }
  void endCall(const Call &call);
  // What was captured since start(); nothing of it has run.
  Works takeWorks();
  // The captured works run again, for the `number`th time; they outlive finish(). Returns the
  // Launch span of the replay, which has begun.
  uint64_t replay(const Works &works, int64_t number);
  // The host has waited for the stream, or, not `isOk`, the run has failed.
  void finish(bool isOk);

private:
  // The GPU's clock lies `aheadNs` before the host's, give or take `errorNs`, at `hostNs`.
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
