#include "runtime/exchange/moe/net_nodes.h"

#include "runtime/base/dtype.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace coll::rt {

namespace {

constexpr int64_t kSpinUs = 200; // for how long a wait polls

size_t at(int64_t index) { return static_cast<size_t>(index); }

dl::CudaAddress addressOf(const void *data) { return reinterpret_cast<dl::CudaAddress>(data); }

// Divides memory among arrays.
class Cutter {
public:
  explicit Cutter(char *base) : base_(base) {}
  template <typename T>
  T *take(int64_t count) {
    const uint64_t place = used_;
    used_ += (static_cast<uint64_t>(count) * sizeof(T) + 511) / 512 * 512;
    return reinterpret_cast<T *>(base_ + place);
  }
  uint64_t used() const { return used_; }

private:
  char *const base_;
  uint64_t used_ = 0;
};

MoeRelay relayOf(char *memory, const MoeRoutes &routes, const kernels::MoeRecord &record,
                 bool isCombine) {
  const int64_t size = routes.world.nodeSize;
  Cutter cutter(memory);
  MoeRelay relay;
  // Tables come first, so that their places do not depend on the call.
  relay.totals = cutter.take<int32_t>(size * size);
  relay.ownRows = cutter.take<int32_t>(routes.maxTokens * size);
  relay.places = cutter.take<int32_t>(routes.maxTokens * routes.world.numNodes());
  relay.sendTokens = cutter.take<int32_t>(routes.maxSent);
  relay.relayRows = cutter.take<int32_t>(routes.maxRelayed * size);
  relay.relaySource = cutter.take<int32_t>(routes.maxRelayed);
  relay.rows = cutter.take<char>(routes.maxRelayed * record.rowBytes);
  relay.topkIdx = cutter.take<int64_t>(routes.maxRelayed * record.numTopk);
  relay.topkWeights = cutter.take<float>(routes.maxRelayed * record.numTopk);
  relay.scales = cutter.take<float>(routes.maxRelayed * record.numScales);
  if (isCombine) {
    relay.backRows = cutter.take<char>(routes.maxSent * record.rowBytes);
    relay.backWeights = cutter.take<float>(routes.maxSent * record.numTopk);
  }
  relay.bytes = cutter.used();
  return relay;
}

// The data that returns with a token. There are no indices; its weights are sent like scales.
kernels::MoeRecord sumsOf(const kernels::MoeRecord &record) {
  return {record.rowBytes, 0, record.numTopk};
}

} // namespace

//===-- life --------------------------------------------------------------------===//

Status MoeNodes::available() { return Status::okay(); }

Result<std::unique_ptr<MoeNodes>> MoeNodes::create(std::shared_ptr<dl::GpuContext> gpu,
                                                   const MoeKernels &kernels,
                                                   const MoeNodesOptions &options, Watch watch) {
  auto nodes = std::make_unique<MoeNetNodes>(std::move(gpu), kernels, options, std::move(watch));
  COLL_RETURN_IF_ERROR(nodes->open());
  return std::unique_ptr<MoeNodes>(std::move(nodes));
}

Status MoeNetNodes::open() {
  const dl::Cuda &cuda = gpu_->cuda();
  const MoeWorld &world = options_.world;
  using Kind = dl::GpuMemory::Kind;
  if (options_.lowLatency) {
    Result<std::unique_ptr<MoeLowLatencyNodes>> far =
        MoeLowLatencyNodes::create(gpu_, *options_.transport, world, *options_.lowLatency);
    if (!far)
      return far.status();
    far_ = far.take();
  }
  if (options_.netBytes > 0) {
    Result<dl::GpuMemory> memory = dl::GpuMemory::create(gpu_, Kind::Device, options_.netBytes);
    if (!memory)
      return memory.status();
    memory_ = memory.take();
  }
  Result<dl::GpuMemory> stage = dl::GpuMemory::create(gpu_, Kind::Pinned, kStageBytes);
  if (!stage)
    return stage.status();
  stage_ = stage.take();
  COLL_RETURN_IF_ERROR(driver(
      cuda.streamCreateWithPriority(&stream_, dl::kCudaStreamNonBlocking, dl::kCudaHighestPriority),
      "cuStreamCreateWithPriority"));
  COLL_RETURN_IF_ERROR(driver(cuda.eventCreate(&staged_, dl::kCudaEventNoTiming), "cuEventCreate"));
  ChunkPump::Options pumping;
  pumping.slotBytes = options_.chunkBytes;
  pumping.timeoutUs = options_.timeoutUs;
  for (int n = 0; n < world.numNodes(); ++n)
    if (n != world.node() && world.onNode(n) < world.numRanks)
      pumping.far.push_back(world.onNode(n));
  Result<std::unique_ptr<ChunkNetwork>> network =
      ChunkNetwork::create(gpu_, *options_.transport, world.rank, world.numRanks, pumping);
  if (!network)
    return network.status();
  network_ = network.take();
  COLL_RETURN_IF_ERROR(kernels_.rehearseRelay(network_->out()));
  return driver(cuda.streamSynchronize(network_->out()), "cuStreamSynchronize");
}

MoeNetNodes::~MoeNetNodes() {
  network_.reset();
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  if (staged_)
    (void)cuda.eventDestroy(staged_);
  if (stream_)
    (void)cuda.streamDestroy(stream_);
}

//===-- copies ------------------------------------------------------------------===//

Status MoeNetNodes::await(dl::CudaEvent event) {
  const int64_t beganUs = net::nowUs();
  dl::CudaResult state = dl::kCudaNotReady;
  while ((state = gpu_->cuda().eventQuery(event)) == dl::kCudaNotReady) {
    COLL_RETURN_IF_ERROR(watch_());
    const int64_t nowUs = net::nowUs();
    if (nowUs > beganUs + options_.timeoutUs)
      return {kCollTimeout, "the work on the stream has not ended"};
    if (nowUs > beganUs + kSpinUs)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else
      std::this_thread::yield();
  }
  return driver(state, "cuEventQuery");
}

Status MoeNetNodes::finish() {
  COLL_RETURN_IF_ERROR(driver(gpu_->cuda().eventRecord(staged_, stream_), "cuEventRecord"));
  COLL_RETURN_IF_ERROR(await(staged_));
  isStageBusy_ = false;
  return Status::okay();
}

void MoeNetNodes::drain() {
  (void)gpu_->cuda().streamSynchronize(stream_);
  network_->drain();
}

Status MoeNetNodes::upload(void *to, const void *from, size_t bytes) {
  const dl::Cuda &cuda = gpu_->cuda();
  for (size_t done = 0; done < bytes;) {
    const size_t part = std::min(bytes - done, static_cast<size_t>(kStageBytes));
    if (isStageBusy_)
      COLL_RETURN_IF_ERROR(await(staged_));
    std::memcpy(stage_.host(), static_cast<const char *>(from) + done, part);
    COLL_RETURN_IF_ERROR(
        driver(cuda.memcpyHtoDAsync(addressOf(to) + done, stage_.host(), part, stream_),
               "cuMemcpyHtoDAsync"));
    COLL_RETURN_IF_ERROR(driver(cuda.eventRecord(staged_, stream_), "cuEventRecord"));
    isStageBusy_ = true;
    done += part;
  }
  return Status::okay();
}

Status MoeNetNodes::download(void *to, const void *from, size_t bytes) {
  const dl::Cuda &cuda = gpu_->cuda();
  for (size_t done = 0; done < bytes;) {
    const size_t part = std::min(bytes - done, static_cast<size_t>(kStageBytes));
    // On the stream, after an upload that may still read the stage.
    COLL_RETURN_IF_ERROR(
        driver(cuda.memcpyDtoHAsync(stage_.host(), addressOf(from) + done, part, stream_),
               "cuMemcpyDtoHAsync"));
    COLL_RETURN_IF_ERROR(finish());
    std::memcpy(static_cast<char *>(to) + done, stage_.host(), part);
    done += part;
  }
  return Status::okay();
}

//===-- rows --------------------------------------------------------------------===//

Status MoeNetNodes::checkRoom(const MoeRoutes &routes, const kernels::MoeRecord &record,
                              bool isCombine) const {
  const uint64_t bytes = relayOf(data(), routes, record, isCombine).bytes;
  if (bytes > static_cast<uint64_t>(options_.netBytes))
    return Status::invalid("netBytes is " + std::to_string(options_.netBytes) +
                           "; the call needs " + std::to_string(bytes));
  return tokensOfChunk(isCombine ? sumsOf(record) : record).status();
}

Result<MoeRelay> MoeNetNodes::prepare(const std::shared_ptr<const MoeRoutes> &routes,
                                      const kernels::MoeRecord &record, bool isCombine) {
  COLL_RETURN_IF_ERROR(checkRoom(*routes, record, isCombine));
  const MoeRelay relay = relayOf(data(), *routes, record, isCombine);
  // The kernels of an earlier call have read its data when they end.
  COLL_RETURN_IF_ERROR(network_->order(stream_, network_->in()));
  if (uploaded_ == routes)
    return relay;
  uploaded_ = nullptr;
  const int size = options_.world.nodeSize;
  // Rows are absolute, so the prefix is zero.
  std::vector<int32_t> totals(at(size * size), 0);
  std::copy(routes->memberTokens.begin(), routes->memberTokens.end(), totals.end() - size);
  const auto put = [&](int32_t *to, const std::vector<int32_t> &from) {
    return upload(to, from.data(), from.size() * sizeof(int32_t));
  };
  COLL_RETURN_IF_ERROR(put(relay.totals, totals));
  COLL_RETURN_IF_ERROR(put(relay.ownRows, routes->ownRows));
  COLL_RETURN_IF_ERROR(put(relay.places, routes->places));
  COLL_RETURN_IF_ERROR(put(relay.sendTokens, routes->sendTokens));
  COLL_RETURN_IF_ERROR(put(relay.relayRows, routes->relayRows));
  COLL_RETURN_IF_ERROR(put(relay.relaySource, routes->relaySource));
  uploaded_ = routes;
  return relay;
}

Result<int64_t> MoeNetNodes::tokensOfChunk(const kernels::MoeRecord &record) const {
  const int64_t one = static_cast<int64_t>(kernels::moeRun(record, 1).bytes);
  if (one > options_.chunkBytes)
    return Status::invalid("a token has " + std::to_string(one) + " bytes, netChunkBytes is " +
                           std::to_string(options_.chunkBytes));
  // With alignment, a run of several tokens is shorter than the sum of their runs.
  return options_.chunkBytes / one;
}

void MoeNetNodes::addFlows(std::vector<RankFlow> &flows, bool isSend,
                           const std::vector<int64_t> &begin, const kernels::MoeRecord &record,
                           int64_t tokens, const Move &move) const {
  const MoeWorld &world = options_.world;
  for (int n = 0; n < world.numNodes(); ++n) {
    const int64_t first = begin[at(n)], count = begin[at(n + 1)] - first;
    if (n == world.node() || count == 0)
      continue;
    RankFlow flow;
    flow.rank = world.onNode(n);
    flow.isSend = isSend;
    flow.tag = tagOf(kRows);
    flow.numChunks = (count + tokens - 1) / tokens;
    flow.bytes = [=](int64_t chunk) {
      const int64_t part = std::min(tokens, count - chunk * tokens);
      return static_cast<int64_t>(kernels::moeRun(record, static_cast<uint32_t>(part)).bytes);
    };
    flow.move = [=](int64_t chunk, const ChunkSlot &slot) {
      return move(first + chunk * tokens, std::min(tokens, count - chunk * tokens), slot);
    };
    flow.stream = isSend ? network_->out() : network_->in();
    flows.push_back(std::move(flow));
  }
}

Status MoeNetNodes::forward(const MoeRoutes &routes, const MoeRelay &relay, const MoeTokens &tokens,
                            const int64_t *topkIdx, const kernels::MoeRecord &record) {
  Result<int64_t> each = tokensOfChunk(record);
  if (!each)
    return each.status();
  std::vector<RankFlow> flows;
  addFlows(flows, true, routes.sendBegin, record, *each,
           [&](int64_t first, int64_t count, const ChunkSlot &slot) {
             kernels::MoeGatherArgs args;
             args.record = record;
             args.tokens = relay.sendTokens + first;
             args.count = static_cast<uint32_t>(count);
             args.x = tokens.x;
             args.topkIdx = topkIdx;
             args.topkWeights = tokens.topkWeights;
             args.scales = tokens.scales;
             args.scaleTokenStride = tokens.scaleTokenStride;
             args.scaleStride = tokens.scaleStride;
             args.to = slot.device;
             return kernels_.gather(args, network_->out());
           });
  addFlows(flows, false, routes.relayBegin, record, *each,
           [&](int64_t first, int64_t count, const ChunkSlot &slot) {
             const kernels::MoeRun run = kernels::moeRun(record, static_cast<uint32_t>(count));
             const auto take = [&](void *to, uint64_t from, int64_t elem) {
               return elem == 0 ? Status::okay()
                                : driver(gpu_->cuda().memcpyHtoDAsync(
                                             addressOf(to) + static_cast<uint64_t>(first * elem),
                                             slot.host + from, at(count * elem), network_->in()),
                                         "cuMemcpyHtoDAsync");
             };
             COLL_RETURN_IF_ERROR(take(relay.rows, run.rows, record.rowBytes));
             COLL_RETURN_IF_ERROR(take(relay.topkIdx, run.topkIdx, 8 * int64_t{record.numTopk}));
             COLL_RETURN_IF_ERROR(
                 take(relay.topkWeights, run.topkWeights, 4 * int64_t{record.numTopk}));
             return take(relay.scales, run.scales, 4 * int64_t{record.numScales});
           });
  COLL_RETURN_IF_ERROR(run(std::move(flows)));
  return network_->order(network_->in(), stream_);
}

Status MoeNetNodes::back(const MoeRoutes &routes, const MoeRelay &relay,
                         const kernels::MoeRecord &record) {
  const kernels::MoeRecord sums = sumsOf(record);
  Result<int64_t> each = tokensOfChunk(sums);
  if (!each)
    return each.status();
  const int64_t rowBytes = sums.rowBytes, weightBytes = 4 * int64_t{sums.numScales};
  std::vector<RankFlow> flows;
  addFlows(flows, true, routes.relayBegin, sums, *each,
           [&](int64_t first, int64_t count, const ChunkSlot &slot) {
             const auto give = [&](uint64_t to, const void *from, int64_t elem) {
               return elem == 0 ? Status::okay()
                                : driver(gpu_->cuda().memcpyDtoHAsync(
                                             slot.host + to,
                                             addressOf(from) + static_cast<uint64_t>(first * elem),
                                             at(count * elem), network_->out()),
                                         "cuMemcpyDtoHAsync");
             };
             const kernels::MoeRun run = kernels::moeRun(sums, static_cast<uint32_t>(count));
             COLL_RETURN_IF_ERROR(give(run.rows, relay.rows, rowBytes));
             return give(run.scales, relay.topkWeights, weightBytes);
           });
  addFlows(flows, false, routes.sendBegin, sums, *each,
           [&](int64_t first, int64_t count, const ChunkSlot &slot) {
             const auto take = [&](void *to, uint64_t from, int64_t elem) {
               return elem == 0 ? Status::okay()
                                : driver(gpu_->cuda().memcpyHtoDAsync(
                                             addressOf(to) + static_cast<uint64_t>(first * elem),
                                             slot.host + from, at(count * elem), network_->in()),
                                         "cuMemcpyHtoDAsync");
             };
             const kernels::MoeRun run = kernels::moeRun(sums, static_cast<uint32_t>(count));
             COLL_RETURN_IF_ERROR(take(relay.backRows, run.rows, rowBytes));
             return take(relay.backWeights, run.scales, weightBytes);
           });
  COLL_RETURN_IF_ERROR(run(std::move(flows)));
  return network_->order(network_->in(), stream_);
}

} // namespace coll::rt
