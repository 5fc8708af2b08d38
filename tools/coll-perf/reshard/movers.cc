#include "runtime/exchange/reshard/nodes.h"
#include "tools/coll-perf/reshard/mover.h"

#include <vector>

namespace coll::perf {

namespace {

using rt::exchange::GpuReshard;
using rt::exchange::HostReshard;
using rt::exchange::NodesReshard;
using rt::exchange::ReshardBuffers;
using rt::exchange::ReshardDirection;
using rt::exchange::ReshardPlan;
using rt::exchange::ReshardStrategy;
using rt::exchange::Transfer;

class HostMover final : public Mover {
public:
  explicit HostMover(std::unique_ptr<HostReshard> reshard) : reshard_(std::move(reshard)) {}
  Status run() override { return reshard_->run(); }
  Status slice() override { return reshard_->slice(); }

private:
  std::unique_ptr<HostReshard> reshard_;
};

class GpuMover : public Mover {
public:
  explicit GpuMover(GpuRankMemory &memory) : memory_(memory) {}
  Status synchronize() override {
    rt::dl::CudaScope scope(memory_.gpu()->cuda(), memory_.gpu()->context());
    return memory_.gpu()->check(memory_.gpu()->cuda().streamSynchronize(memory_.stream()),
                                "cuStreamSynchronize");
  }

protected:
  GpuRankMemory &memory_;
};

// GpuReshard or NodesReshard.
template <typename Reshard>
class OurMover final : public GpuMover {
public:
  OurMover(GpuRankMemory &memory, std::unique_ptr<Reshard> reshard)
      : GpuMover(memory), reshard_(std::move(reshard)) {}
  Status run() override { return reshard_->run(memory_.stream()); }
  Status slice() override { return reshard_->slice(memory_.stream()); }

private:
  std::unique_ptr<Reshard> reshard_;
};

// Copies every box by the copy engine. The engine executes one loop of a copy; the host executes
// the others.
class CopiesMover final : public GpuMover {
public:
  struct Part {
    rt::StridedBox box;
    const char *src;
    char *dst;
  };
  CopiesMover(GpuRankMemory &memory, std::vector<Part> parts)
      : GpuMover(memory), parts_(std::move(parts)) {}
  Status run() override {
    const rt::dl::Cuda &cuda = memory_.gpu()->cuda();
    rt::dl::CudaScope scope(cuda, memory_.gpu()->context());
    for (const Part &part : parts_) {
      rt::StridedBox outer = part.box;
      rt::dl::CudaCopy2D copy;
      copy.bytes = copy.srcPitch = copy.dstPitch = static_cast<size_t>(outer.rowBytes);
      copy.rows = 1;
      if (outer.numLoops > 0) {
        const auto inner = static_cast<size_t>(--outer.numLoops);
        copy.rows = static_cast<size_t>(outer.count[inner]);
        copy.srcPitch = static_cast<size_t>(outer.srcStride[inner]);
        copy.dstPitch = static_cast<size_t>(outer.dstStride[inner]);
      }
      for (rt::RowCursor at(outer); !at.done(); at.next()) {
        copy.src = reinterpret_cast<rt::dl::CudaAddress>(part.src + at.src());
        copy.dst = reinterpret_cast<rt::dl::CudaAddress>(part.dst + at.dst());
        COLL_RETURN_IF_ERROR(
            memory_.gpu()->check(cuda.memcpy2DAsync(&copy, memory_.stream()), "cuMemcpy2DAsync"));
      }
    }
    return {};
  }

private:
  const std::vector<Part> parts_;
};

} // namespace

Result<ReshardBuffers> buffersFor(const ReshardPlan &plan, const ReshardWay &way, int rank,
                                  RankMemory &memory) {
  const bool gathers = plan.strategy == ReshardStrategy::Gather;
  const bool pushes = way.direction == ReshardDirection::Push;
  ReshardBuffers buffers;
  buffers.source = memory.own(Place::Source);
  buffers.target = memory.own(Place::Target);
  buffers.scratch = memory.own(Place::Scratch);
  buffers.direction = way.direction;
  buffers.peers.resize(pushes ? plan.receivers.size() : plan.senders.size());
  for (const Transfer *transfer : rt::exchange::transfersOf(plan, rank, way.direction)) {
    const auto at = static_cast<size_t>(pushes ? transfer->receiver : transfer->sender);
    const int rank = pushes ? plan.receivers[at] : plan.senders[at];
    if (transfer->isLocal || memory.isFar(rank))
      continue;
    Result<rt::exchange::PeerBuffer> peer = memory.peer(rank, !pushes   ? Place::Source
                                                              : gathers ? Place::Scratch
                                                                        : Place::Target);
    if (!peer)
      return peer.status();
    buffers.peers[at] = *peer;
  }
  return buffers;
}

Result<std::unique_ptr<Mover>> makeHostMover(const ReshardTask &task, const ReshardWay &way,
                                             int rank, RankMemory &memory) {
  Result<ReshardPlan> plan = planReshard(task.spec, way.strategy);
  if (!plan)
    return plan.status();
  Result<ReshardBuffers> buffers = buffersFor(*plan, way, rank, memory);
  if (!buffers)
    return buffers.status();
  Result<std::unique_ptr<HostReshard>> made =
      HostReshard::create(*plan, rank, *buffers, task.timeoutUs);
  if (!made)
    return made.status();
  return std::unique_ptr<Mover>(std::make_unique<HostMover>(made.take()));
}

Result<std::unique_ptr<Mover>> makeGpuMover(const ReshardTask &task, const ReshardWay &way,
                                            int rank, GpuRankMemory &memory) {
  Result<ReshardPlan> plan = planReshard(task.spec, way.strategy);
  if (!plan)
    return plan.status();
  Result<ReshardBuffers> buffers = buffersFor(*plan, way, rank, memory);
  if (!buffers)
    return buffers.status();
  const rt::exchange::GpuReshardOptions options{task.streams, task.blocks, way.engine};
  if (memory.network()) {
    Result<std::unique_ptr<NodesReshard>> made =
        NodesReshard::create(*plan, *buffers, *memory.network(), options);
    if (!made)
      return made.status();
    return std::unique_ptr<Mover>(std::make_unique<OurMover<NodesReshard>>(memory, made.take()));
  }
  Result<std::unique_ptr<GpuReshard>> made =
      GpuReshard::create(*plan, rank, *buffers, memory.gpu(), options);
  if (!made)
    return made.status();
  return std::unique_ptr<Mover>(std::make_unique<OurMover<GpuReshard>>(memory, made.take()));
}

Result<std::unique_ptr<Mover>> makeCopiesMover(const ReshardTask &task, const ReshardWay &way,
                                               int rank, GpuRankMemory &memory) {
  Result<ReshardPlan> plan = planReshard(task.spec);
  if (!plan)
    return plan.status();
  Result<ReshardBuffers> buffers = buffersFor(*plan, way, rank, memory);
  if (!buffers)
    return buffers.status();
  std::vector<CopiesMover::Part> parts;
  for (const Transfer *transfer : rt::exchange::transfersOf(*plan, rank, way.direction)) {
    const char *src = transfer->isLocal
                          ? buffers->source.data
                          : buffers->peers[static_cast<size_t>(transfer->sender)].data;
    for (const rt::StridedBox &box : transfer->boxes)
      parts.push_back({box, src, buffers->target.data});
  }
  return std::unique_ptr<Mover>(std::make_unique<CopiesMover>(memory, std::move(parts)));
}

} // namespace coll::perf
