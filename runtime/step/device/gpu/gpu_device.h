// gpu_device.h - a rank's program on a GPU: its memory, one stream, and graphs of its step.
//
// Failures. A call that the driver rejects fails at once. If a kernel fails later, synchronize()
// reports it; with COLL_GPU_SYNC=1 each call waits, so that the failure names its operation.
//
// Graphs. The first runs of a function are eager: kernels are loaded, algorithms chosen, groups
// connected. Then it is captured, once for each set of buffers, and replayed. A function always
// runs eagerly if it reads the GPU's memory before its end (fetch), starts calls and waits for them
// later, or has collectives or exchanges of tokens that go through the host.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_GPU_DEVICE_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_GPU_DEVICE_H

#include "runtime/gpu/gpu.h"
#include "runtime/step/device/device.h"
#include "runtime/step/device/gpu/bounce.h"
#include "runtime/step/device/gpu/convolve.h"
#include "runtime/step/device/gpu/matmul.h"
#include "runtime/step/device/gpu/module.h"
#include "runtime/step/device/gpu/platform.h"
#include "runtime/step/device/gpu/staged_call.h"
#include "runtime/step/device/gpu/stream_trace.h"

#include <map>
#include <tuple>

namespace coll::rt {

class GpuDevice final : public Device {
public:
  // `program` and `endpoint` outlive the device. `ordinal` is the GPU's number.
  static Result<std::unique_ptr<GpuDevice>> create(const GpuPlatform &platform, int ordinal,
                                                   const Program &program, Endpoint &endpoint,
                                                   const TokenOptions &tokens);
  ~GpuDevice() override;

  bool isHost() const override { return false; }
  Result<std::vector<char *>> allocate(const std::vector<BufferNeed> &needs,
                                       Communicator *members) override;
  Status upload(void *dst, int64_t bytes, const InputWriter &write) override;
  std::unique_ptr<InputsAhead> makeInputsAhead(int64_t bytes) override;
  Status download(char *hostDst, const void *src, int64_t bytes) override;
  Status synchronize() override;
  void drain() override;
  Status execute(const Execution &execution) override;
  bool mayCapture() const override { return mayCapture_ && !syncs_; }
  bool isCapturing() const override { return isCapturing_; }
  void beginCall(const Call &call, const TraceGroup &group, int64_t bytes) override;
  void endCall(const Call &call) override;
  Result<std::unique_ptr<CallEnd>> prepare(Call &call, const CallExtents &extents,
                                           bool isStarted) override;

  Status launch(const CallSite &site, int32_t kernel, const void *const *args,
                int32_t numArgs) override;
  Status copy(const CallSite &site, void *dst, const void *src, int64_t bytes) override;
  Status fill(const CallSite &site, void *dst, const void *pattern, int32_t patternBytes,
              int64_t count) override;
  Status fetch(const CallSite &site, void *hostDst, const void *src, int64_t bytes) override;
  Status store(const CallSite &site, void *dst, const void *hostSrc, int64_t bytes) override;
  Status contract(const CallSite &site, const CollContraction &contraction, const void *a,
                  const void *b, void *out) override;
  Status attend(const CallSite &site, const kernels::Attention &attention,
                const kernels::AttentionBuffers &buffers, bool isBackward) override;
  Status convolve(const CallSite &site, const kernels::Convolution &convolution,
                  const kernels::ConvolutionBuffers &buffers) override;
  Status dispatch(const TokenDispatch &dispatch, int32_t serial, const TokenPlace &place) override;
  Status combine(const TokenCombine &combine, const TokenPlace &place) override;
  Result<void *> constants() override { return static_cast<void *>(constants_); }

private:
  // The buffers with which a graph was captured, and whether somebody listened: only then it stamps
  // its work, and tags its calls for profilers.
  using GraphKey = std::tuple<std::vector<void *>, std::vector<void *>, bool>;
  struct Graph {
    dl::CudaGraphExec exec = nullptr;
    StreamTrace::Works works; // the work with stamps
    int64_t replays = 0;
  };

  GpuDevice(const GpuPlatform &platform, const Program &program, Endpoint &endpoint)
      : platform_(platform), program_(program), endpoint_(endpoint) {}

  Status open(int ordinal, const TokenOptions &tokens);
  // Allocates the memory of all buffers.
  Result<char *> takeMemory(int64_t bytes, Communicator *members);
  Status uploadConstants(char *to);
  // The error of a program that does not fit into the GPU's memory.
  Status shortage(const Status &failed, const std::vector<BufferNeed> &needs, int64_t total) const;
  // After a call was put on the stream: waits for it if COLL_GPU_SYNC is 1.
  Status settle(Status put);
  // Puts work on the stream, between stamps if the trace listens.
  template <typename Put>
  Status put(const CallSite &site, Put work);
  // Begins to trace the stream. Null if the trace has no listener, or tracing is not possible.
  StreamTrace *startTrace(const Execution &execution);
  // Writes `count` copies of a pattern.
  Status setWords(void *dst, const void *pattern, int32_t patternBytes, int64_t count);
  // Puts a store of a few bytes, which the call itself contains, on the stream.
  Status storeInline(dl::CudaAddress dst, const char *src, int64_t bytes);
  // Runs the program without a graph. A graph of very many calls would need too much memory.
  Status runEagerly(const Execution &execution);
  // Looks for cuDNN, once; without it convolutions run on the runtime's own kernel.
  Status openCudnn();
  // Waits until the stream is done, or a rank has failed. Then nothing on the stream waits.
  Status awaitTokens();
  // The failure, or what this rank's own exchange of tokens has reported, if it is the reason.
  Status reasonOf(const Status &failure);
  void endTokens();
  // Runs the function eagerly, or captures or replays it.
  Status runOrReplay(const Execution &execution);
  // Called for a call that cannot be part of a graph.
  Status leaveGraphs(const char *what);
  Result<Graph> capture(const Execution &execution);
  Status replay(Graph &graph, const Execution &execution);
  Status check(dl::CudaResult result, std::string_view call) const {
    return gpu_->context()->check(result, call);
  }

  const GpuPlatform platform_;
  const Program &program_;
  Endpoint &endpoint_;
  std::unique_ptr<gpu::Gpu> gpu_;
  dl::CudaStream stream_ = nullptr; // of gpu_
  // All buffers, and the constants: of this device, or known to a group.
  dl::GpuMemory memory_;
  std::unique_ptr<Registration> known_;
  char *constants_ = nullptr;
  std::unique_ptr<Bounce> bounce_;
  std::unique_ptr<PinnedPool> staging_;        // of calls on host memory
  std::shared_ptr<GpuModule> module_;          // null: the program has no kernels
  std::unique_ptr<Matmuls> matmuls_;           // null before the first contraction
  std::unique_ptr<Convolutions> convolutions_; // null before the first one, and without cuDNN
  bool hasNoCudnn_ = false;
  std::unique_ptr<TokensOnGpu> tokens_; // null: all tokens go through the host
  std::map<GraphKey, Graph> graphs_;
  std::unique_ptr<StreamTrace> streamTrace_; // null before the first traced run
  StreamTrace *traced_ = nullptr;            // null: this run is not traced
  bool cannotTrace_ = false;
  int eagerRuns_ = 0;
  int64_t calls_ = 0;           // of the run
  bool takesGpuMemory_ = false; // whether the endpoint takes GPU memory
  bool hasGroups_ = false;
  bool mayCapture_ = true;
  bool isCapturing_ = false;
  bool isRunning_ = false; // from execute() to synchronize()
  bool isDrained_ = false; // nothing is put on the device any more
  bool syncs_ = false;     // COLL_GPU_SYNC
};

template <typename Put>
Status GpuDevice::put(const CallSite &site, Put work) {
  if (!traced_)
    return settle(work());
  const size_t span = traced_->begin(site);
  Status status = work();
  traced_->end(span);
  return settle(std::move(status));
}

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_GPU_DEVICE_H
