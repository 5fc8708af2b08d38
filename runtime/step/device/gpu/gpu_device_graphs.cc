// Runs of a program's function: eager ones, captures, and replays of graphs.

#include "runtime/base/log.h"
#include "runtime/step/abi/call_trace.h"
#include "runtime/step/device/gpu/gpu_device.h"

#include <utility>

namespace coll::rt {

namespace {

// The first runs create everything that later runs reuse.
constexpr int kEagerRuns = 2;
// Buffers swap from step to step, in two ways; more graphs would mean that something else changes.
constexpr size_t kMostGraphs = 4;
constexpr int64_t kMostGraphCalls = 100'000;

} // namespace

Status GpuDevice::leaveGraphs(const char *what) {
  mayCapture_ = false;
  if (isCapturing_)
    return {kCollUnsupported, std::string(what) + " cannot be part of a graph"};
  return {};
}

Status GpuDevice::execute(const Execution &execution) {
  gpu::Gpu::Scope scope(*gpu_);
  COLL_RETURN_IF_ERROR(scope.scope.status());
  isRunning_ = true;
  Status status = runOrReplay(execution);
  // Kernels of other ranks may wait for this one's.
  if (!status.ok() && tokens_ && tokens_->isUsed())
    endTokens();
  return status;
}

Status GpuDevice::runOrReplay(const Execution &execution) {
  traced_ = startTrace(execution);
  tracesStream_ = traced_ != nullptr;
  // Also where the GPU's part of the trace is missing: if some ranks replayed and others did not,
  // they would wait for each other.
  const GraphKey key(execution.args, execution.results, execution.trace != 0);
  if (auto known = graphs_.find(key); known != graphs_.end() && execution.mayCapture)
    return replay(known->second, execution);
  if (!execution.mayCapture || !mayCapture() || eagerRuns_ < kEagerRuns ||
      graphs_.size() == kMostGraphs) {
    ++eagerRuns_;
    return runEagerly(execution);
  }
  Result<Graph> graph = capture(execution);
  if (graph)
    return replay(graphs_.emplace(key, graph.take()).first->second, execution);
  if (mayCapture_)
    return graph.status();
  // Nothing of it has run.
  log(LogLevel::Info, "the step runs without a graph: " + graph.status().message());
  execution.forget();
  return execution.run();
}

StreamTrace *GpuDevice::startTrace(const Execution &execution) {
  if (execution.trace == 0 || cannotTrace_)
    return nullptr;
  if (!streamTrace_) {
    Result<std::unique_ptr<StreamTrace>> made = StreamTrace::create(*gpu_, stream_);
    if (!made) {
      cannotTrace_ = true;
      log(LogLevel::Warn, "the GPU's part of the profile is missing: " + made.status().message());
      return nullptr;
    }
    streamTrace_ = made.take();
  }
  streamTrace_->start(execution.rank, execution.trace);
  return streamTrace_.get();
}

Status GpuDevice::runEagerly(const Execution &execution) {
  calls_ = 0;
  Status status = execution.run();
  if (calls_ > kMostGraphCalls && mayCapture_) {
    log(LogLevel::Info, "the step runs without a graph: it has " + std::to_string(calls_) +
                            " calls, and graphs are made of " + std::to_string(kMostGraphCalls));
    mayCapture_ = false;
  }
  return status;
}

Result<GpuDevice::Graph> GpuDevice::capture(const Execution &execution) {
  const dl::Cuda &cuda = gpu_->cuda();
  COLL_RETURN_IF_ERROR(
      check(cuda.streamBeginCapture(stream_, dl::kCudaCaptureThreadLocal), "cuStreamBeginCapture"));
  isCapturing_ = true;
  Status status = execution.run();
  isCapturing_ = false;
  dl::CudaGraph graph = nullptr;
  Status ended = check(cuda.streamEndCapture(stream_, &graph), "cuStreamEndCapture");
  Graph captured;
  if (traced_)
    captured.works = traced_->takeWorks();
  if (status.ok())
    status = ended;
  if (status.ok())
    status = check(cuda.graphInstantiate(&captured.exec, graph, 0), "cuGraphInstantiate");
  if (graph)
    (void)cuda.graphDestroy(graph);
  if (!status.ok())
    return status;
  return captured;
}

Status GpuDevice::replay(Graph &graph, const Execution &execution) {
  ++graph.replays;
  uint64_t span = 0;
  if (traced_)
    span = traced_->replay(graph.works, graph.replays);
  else if (execution.trace != 0)
    span = traceBeginSpan(TraceLevel::Launch, execution.rank, /*op=*/-1, "replay", execution.trace);
  Status status = check(gpu_->cuda().graphLaunch(graph.exec, stream_), "cuGraphLaunch");
  traceEndSpan(TraceLevel::Launch, execution.rank, /*op=*/-1, span, !status.ok());
  return status;
}

} // namespace coll::rt
