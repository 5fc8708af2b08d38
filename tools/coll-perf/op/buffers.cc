#include "tools/coll-perf/op/buffers.h"

#include "runtime/base/dtype.h"
#include "tools/coll-perf/gpu_of_rank.h"
#include "tools/coll-perf/op/data.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cstring>

namespace coll::perf {

namespace {

using rt::dl::GpuContext;
using rt::dl::GpuMemory;

// The size of each buffer; in place, source and destination are the same buffer.
int64_t roomOf(const OpPlan &plan, int rank) {
  int64_t elems = 1;
  for (uint64_t bytes : plan.sizes()) {
    Extent extent = Reference(plan, countOf(plan, bytes)).extent(rank);
    elems = std::max({elems, extent.src, extent.dst});
  }
  return elems * rt::dtypeSize(plan.dtype);
}

// The host memory for source and destination of all ranks of these sides.
double hostRoomOf(const OpPlan &plan, const std::vector<Side> &sides) {
  double room = 0;
  for (int rank = 0; rank < plan.ranks; ++rank)
    room += 2.0 * static_cast<double>(roomOf(plan, rank));
  return room * static_cast<double>(std::count_if(sides.begin(), sides.end(), [](const Side &side) {
           return side.memory == MemoryKind::Host;
         }));
}

class HostBuffers final : public Buffers {
public:
  Status open(int64_t bytes) {
    for (auto [memory, at] : {std::pair(&memory_[0], &src_), {&memory_[1], &dst_}}) {
      Result<rt::AlignedBuffer> made = rt::AlignedBuffer::create(bytes);
      if (!made)
        return made.status();
      *memory = made.take();
      *at = memory->data();
      // touches the pages before the time is measured
      std::memset(*at, 0, static_cast<size_t>(bytes));
    }
    return {};
  }
  Status write(void *to, int64_t bytes, const Part &fill) override {
    fill(0, bytes, to);
    return {};
  }
  Status read(void *from, int64_t bytes, const Part &look) override {
    look(0, bytes, from);
    return {};
  }

private:
  rt::AlignedBuffer memory_[2];
};

class GpuBuffers final : public Buffers {
public:
  ~GpuBuffers() override {
    forget();
    rt::dl::CudaScope scope(*cuda_, gpu_->context());
    if (stream_)
      (void)cuda_->streamDestroy(stream_);
  }
  explicit GpuBuffers(const rt::dl::Cuda &cuda, std::shared_ptr<GpuContext> gpu)
      : cuda_(&cuda), gpu_(std::move(gpu)) {}

  Status open(int64_t bytes, Registered registered, rt::Communicator &group) {
    {
      rt::dl::CudaScope scope(*cuda_, gpu_->context());
      COLL_RETURN_IF_ERROR(gpu_->check(
          cuda_->streamCreate(&stream_, rt::dl::kCudaStreamNonBlocking), "cuStreamCreate"));
    }
    for (auto [i, at] : {std::pair(0, &src_), {1, &dst_}}) {
      if (registered != Registered::Own) {
        Result<GpuMemory> made = GpuMemory::create(gpu_, GpuMemory::Kind::Device, bytes);
        if (!made)
          return made.status();
        memory_[i] = made.take();
        *at = memory_[i].device();
      }
      if (registered == Registered::No)
        continue;
      Result<std::unique_ptr<rt::Registration>> known =
          registered == Registered::Own ? group.allocate(bytes) : group.registerMemory(*at, bytes);
      if (!known)
        return known.status();
      registrations_[i] = known.take();
      *at = registrations_[i]->data();
    }
    Result<GpuMemory> staging = GpuMemory::create(gpu_, GpuMemory::Kind::Pinned, kStagingBytes);
    if (!staging)
      return staging.status();
    staging_ = staging.take();
    return {};
  }

  Status write(void *to, int64_t bytes, const Part &fill) override {
    return inParts(bytes, [&](int64_t at, int64_t part) {
      fill(at, part, staging_.host());
      return copied(cuda_->memcpyHtoDAsync(addressOf(to, at), staging_.host(),
                                           static_cast<size_t>(part), stream_),
                    "cuMemcpyHtoDAsync");
    });
  }
  Status read(void *from, int64_t bytes, const Part &look) override {
    return inParts(bytes, [&](int64_t at, int64_t part) {
      COLL_RETURN_IF_ERROR(copied(cuda_->memcpyDtoHAsync(staging_.host(), addressOf(from, at),
                                                         static_cast<size_t>(part), stream_),
                                  "cuMemcpyDtoHAsync"));
      look(at, part, staging_.host());
      return Status();
    });
  }

  int gpu() const override { return gpu_->ordinal(); }
  void *stream() const override { return stream_; }
  Status capture(const std::function<Status()> &body) override {
    rt::dl::CudaScope scope(*cuda_, gpu_->context());
    rt::dl::CudaGraph graph = nullptr;
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda_->streamBeginCapture(stream_, rt::dl::kCudaCaptureThreadLocal),
                    "cuStreamBeginCapture"));
    Status captured = body();
    Status ended = gpu_->check(cuda_->streamEndCapture(stream_, &graph), "cuStreamEndCapture");
    if (captured.ok())
      captured = ended;
    if (captured.ok())
      captured = gpu_->check(cuda_->graphInstantiate(&graph_, graph, 0), "cuGraphInstantiate");
    if (graph)
      (void)cuda_->graphDestroy(graph);
    return captured;
  }
  Status launch() override {
    rt::dl::CudaScope scope(*cuda_, gpu_->context());
    return gpu_->check(cuda_->graphLaunch(graph_, stream_), "cuGraphLaunch");
  }
  void forget() override {
    rt::dl::CudaScope scope(*cuda_, gpu_->context());
    if (graph_)
      (void)cuda_->graphExecDestroy(graph_);
    graph_ = nullptr;
  }

private:
  static constexpr int64_t kStagingBytes = 16 << 20;

  static rt::dl::CudaAddress addressOf(void *buffer, int64_t at) {
    return reinterpret_cast<rt::dl::CudaAddress>(buffer) + static_cast<rt::dl::CudaAddress>(at);
  }

  // Waits for a copy that was started.
  Status copied(rt::dl::CudaResult started, const char *what) {
    COLL_RETURN_IF_ERROR(gpu_->check(started, what));
    return gpu_->check(cuda_->streamSynchronize(stream_), "cuStreamSynchronize");
  }

  template <typename Move>
  Status inParts(int64_t bytes, Move &&move) {
    rt::dl::CudaScope scope(*cuda_, gpu_->context());
    for (int64_t at = 0; at < bytes; at += kStagingBytes)
      COLL_RETURN_IF_ERROR(move(at, std::min(kStagingBytes, bytes - at)));
    return {};
  }

  const rt::dl::Cuda *cuda_;
  std::shared_ptr<GpuContext> gpu_;
  rt::dl::CudaStream stream_ = nullptr;
  rt::dl::CudaGraphExec graph_ = nullptr;
  GpuMemory memory_[2], staging_;
  std::unique_ptr<rt::Registration> registrations_[2];
};

} // namespace

Status Buffers::capture(const std::function<Status()> &) {
  return {kCollUnsupported, "host memory has no stream"};
}

Status checkHostRoom(const OpPlan &plan, const std::vector<Side> &sides) {
  const rt::MemoryLimit limit = rt::memoryLimit();
  const auto there = static_cast<double>(limit.bytes);
  const double room = hostRoomOf(plan, sides);
  if (room <= there)
    return {};
  const auto inMiB = [](double bytes) {
    return formatBytes(static_cast<uint64_t>(bytes / (1 << 20)) << 20);
  };
  return Status::invalid("the buffers of " + std::to_string(plan.ranks) + " ranks take " +
                         inMiB(room) + " of host memory together, and " + limit.name + " is " +
                         inMiB(there) + ": use a smaller -e, fewer ranks or fewer backends");
}

Result<std::unique_ptr<Buffers>> Buffers::create(const OpPlan &plan, const Side &side, int rank,
                                                 rt::Communicator &group) {
  int64_t bytes = roomOf(plan, rank);
  // Symmetric memory has one size everywhere.
  for (int other = 0; side.registered != Registered::No && other < plan.ranks; ++other)
    bytes = std::max(bytes, roomOf(plan, other));
  if (side.memory == MemoryKind::Host) {
    auto buffers = std::make_unique<HostBuffers>();
    COLL_RETURN_IF_ERROR(buffers->open(bytes));
    return std::unique_ptr<Buffers>(std::move(buffers));
  }
  Result<std::shared_ptr<GpuContext>> gpu = openGpuOfRank(rank);
  if (!gpu)
    return gpu.status();
  const rt::dl::Cuda &cuda = (*gpu)->cuda();
  auto buffers = std::make_unique<GpuBuffers>(cuda, gpu.take());
  COLL_RETURN_IF_ERROR(buffers->open(bytes, side.registered, group));
  return std::unique_ptr<Buffers>(std::move(buffers));
}

} // namespace coll::perf
