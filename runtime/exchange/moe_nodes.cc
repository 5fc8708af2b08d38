#include "runtime/exchange/moe_nodes.h"

#include "runtime/base/dtype.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

namespace coll::rt {

namespace {

enum Message : uint64_t { kSigns, kRoutes, kRows };

size_t at(int64_t index) { return static_cast<size_t>(index); }

dl::CudaAddress addressOf(const void *data) { return reinterpret_cast<dl::CudaAddress>(data); }

// Deals out memory.
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
  // Tables first: where they are does not depend on the call.
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

// What comes back with a token. No indices: its weights travel as scales do.
kernels::MoeRecord sumsOf(const kernels::MoeRecord &record) {
  return {record.rowBytes, 0, record.numTopk};
}

} // namespace

//===-- life --------------------------------------------------------------------===//

Result<std::unique_ptr<MoeNodes>> MoeNodes::create(std::shared_ptr<dl::GpuContext> gpu,
                                                   const MoeKernels &kernels,
                                                   const MoeNodesOptions &options, Watch watch) {
  std::unique_ptr<MoeNodes> nodes(new MoeNodes(std::move(gpu), kernels, options, std::move(watch)));
  COLL_RETURN_IF_ERROR(nodes->open());
  return nodes;
}

Status MoeNodes::open() {
  const dl::Cuda &cuda = gpu_->cuda();
  const MoeWorld &world = options_.world;
  using Kind = dl::GpuMemory::Kind;
  Result<dl::GpuMemory> memory = dl::GpuMemory::create(gpu_, Kind::Device, options_.netBytes);
  if (!memory)
    return memory.status();
  memory_ = memory.take();
  Result<dl::GpuMemory> stage = dl::GpuMemory::create(gpu_, Kind::Pinned, kStageBytes);
  if (!stage)
    return stage.status();
  stage_ = stage.take();
  for (dl::CudaStream *stream : {&out_, &in_})
    COLL_RETURN_IF_ERROR(
        driver(cuda.streamCreate(stream, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  for (dl::CudaEvent *event : {&event_, &staged_})
    COLL_RETURN_IF_ERROR(driver(cuda.eventCreate(event, dl::kCudaEventNoTiming), "cuEventCreate"));
  COLL_RETURN_IF_ERROR(kernels_.rehearseRelay(out_));
  COLL_RETURN_IF_ERROR(driver(cuda.streamSynchronize(out_), "cuStreamSynchronize"));
  Result<std::unique_ptr<MoeLinks>> links =
      MoeLinks::create(*options_.transport, world.rank, world.numRanks);
  if (!links)
    return links.status();
  links_ = links.take();
  MoePump::Options pumping;
  pumping.slotBytes = options_.chunkBytes;
  pumping.timeoutUs = options_.timeoutUs;
  for (int n = 0; n < world.numNodes(); ++n)
    if (n != world.node())
      pumping.far.push_back(world.onNode(n));
  Result<std::unique_ptr<MoePump>> pump =
      MoePump::create(gpu_, *options_.transport, *links_, world.rank, world.numRanks, pumping);
  if (!pump)
    return pump.status();
  pump_ = pump.take();
  return Status::okay();
}

MoeNodes::~MoeNodes() {
  if (links_)
    links_->close();
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  for (dl::CudaStream stream : {out_, in_})
    if (stream) {
      (void)cuda.streamSynchronize(stream);
      (void)cuda.streamDestroy(stream);
    }
  for (dl::CudaEvent event : {event_, staged_})
    if (event)
      (void)cuda.eventDestroy(event);
  pump_.reset();
}

//===-- copies ------------------------------------------------------------------===//

Status MoeNodes::await(dl::CudaEvent event) {
  const int64_t deadlineUs = net::nowUs() + options_.timeoutUs;
  dl::CudaResult state = dl::kCudaNotReady;
  while ((state = gpu_->cuda().eventQuery(event)) == dl::kCudaNotReady) {
    COLL_RETURN_IF_ERROR(watch_());
    if (net::nowUs() > deadlineUs)
      return {kCollTimeout, "what is on the stream before the call has not ended"};
    std::this_thread::yield();
  }
  return driver(state, "cuEventQuery");
}

Status MoeNodes::order(dl::CudaStream earlier, dl::CudaStream later) {
  const dl::Cuda &cuda = gpu_->cuda();
  COLL_RETURN_IF_ERROR(driver(cuda.eventRecord(event_, earlier), "cuEventRecord"));
  return driver(cuda.streamWaitEvent(later, event_, 0), "cuStreamWaitEvent");
}

Status MoeNodes::upload(void *to, const void *from, size_t bytes, dl::CudaStream stream) {
  const dl::Cuda &cuda = gpu_->cuda();
  for (size_t done = 0; done < bytes;) {
    const size_t part = std::min(bytes - done, static_cast<size_t>(kStageBytes));
    if (isStageBusy_)
      COLL_RETURN_IF_ERROR(await(staged_));
    std::memcpy(stage_.host(), static_cast<const char *>(from) + done, part);
    COLL_RETURN_IF_ERROR(
        driver(cuda.memcpyHtoDAsync(addressOf(to) + done, stage_.host(), part, stream),
               "cuMemcpyHtoDAsync"));
    COLL_RETURN_IF_ERROR(driver(cuda.eventRecord(staged_, stream), "cuEventRecord"));
    isStageBusy_ = true;
    done += part;
  }
  return Status::okay();
}

Status MoeNodes::download(void *to, const void *from, size_t bytes, dl::CudaStream stream) {
  const dl::Cuda &cuda = gpu_->cuda();
  for (size_t done = 0; done < bytes;) {
    const size_t part = std::min(bytes - done, static_cast<size_t>(kStageBytes));
    if (isStageBusy_)
      COLL_RETURN_IF_ERROR(await(staged_));
    COLL_RETURN_IF_ERROR(
        driver(cuda.memcpyDtoHAsync(stage_.host(), addressOf(from) + done, part, stream),
               "cuMemcpyDtoHAsync"));
    COLL_RETURN_IF_ERROR(driver(cuda.eventRecord(staged_, stream), "cuEventRecord"));
    COLL_RETURN_IF_ERROR(await(staged_));
    isStageBusy_ = false;
    std::memcpy(static_cast<char *>(to) + done, stage_.host(), part);
    done += part;
  }
  return Status::okay();
}

//===-- agreement ---------------------------------------------------------------===//

namespace {

// A rank's sign and counts, as one message.
struct Told {
  MoeCallSign sign;
  int64_t numTokens = 0;
};

std::vector<char> encode(const Told &told, const MoeCounts &counts, const int32_t *perExpert,
                         size_t experts) {
  std::vector<char> bytes(sizeof told +
                          (counts.perRank.size() + counts.perNode.size() + experts) * 4);
  char *to = bytes.data();
  const auto put = [&](const void *from, size_t size) {
    if (size)
      std::memcpy(to, from, size);
    to += size;
  };
  put(&told, sizeof told);
  put(counts.perRank.data(), counts.perRank.size() * 4);
  put(counts.perNode.data(), counts.perNode.size() * 4);
  put(perExpert, experts * 4);
  return bytes;
}

// `counts` has the sizes that it is to have.
void decode(const std::vector<char> &bytes, Told &told, MoeCounts &counts) {
  const char *from = bytes.data();
  const auto get = [&](void *to, size_t size) {
    if (size)
      std::memcpy(to, from, size);
    from += size;
  };
  get(&told, sizeof told);
  get(counts.perRank.data(), counts.perRank.size() * 4);
  get(counts.perNode.data(), counts.perNode.size() * 4);
  get(counts.perExpert.data(), counts.perExpert.size() * 4);
  counts.numTokens = told.numTokens;
}

Status compare(int rank, const MoeCallSign &own, const MoeCallSign &other) {
  if (std::memcmp(&own, &other, sizeof own) == 0)
    return Status::okay();
  const bool isSame = own.kind == other.kind;
  return {kCollMismatch, "rank " + std::to_string(rank) +
                             (isSame ? " calls with other sizes or types" : " makes another call")};
}

} // namespace

MoeFlow MoeNodes::bytesFlow(int rank, bool isSend, uint64_t kind, void *data, size_t bytes) const {
  const auto size = static_cast<int64_t>(bytes), slot = pump_->slotBytes(rank);
  MoeFlow flow;
  flow.rank = rank;
  flow.isSend = isSend;
  flow.tag = tagOf(kind);
  flow.numChunks = (size + slot - 1) / slot;
  flow.bytes = [size, slot](int64_t chunk) { return std::min(slot, size - chunk * slot); };
  auto *place = static_cast<char *>(data);
  flow.move = [=, count = flow.bytes](int64_t chunk, const MoeSlot &at) {
    std::memcpy(isSend ? at.host : place + chunk * slot, isSend ? place + chunk * slot : at.host,
                static_cast<size_t>(count(chunk)));
    return Status::okay();
  };
  return flow;
}

Status MoeNodes::agree(const MoeCallSign &sign) {
  const MoeWorld &world = options_.world;
  ++calls_;
  MoeCallSign own = sign;
  std::vector<MoeCallSign> others(at(world.numNodes()));
  std::vector<MoeFlow> flows;
  for (int n = 0; n < world.numNodes(); ++n)
    if (n != world.node()) {
      flows.push_back(bytesFlow(world.onNode(n), true, kSigns, &own, sizeof own));
      flows.push_back(bytesFlow(world.onNode(n), false, kSigns, &others[at(n)], sizeof own));
    }
  COLL_RETURN_IF_ERROR(run(std::move(flows)));
  for (int n = 0; n < world.numNodes(); ++n)
    if (n != world.node())
      COLL_RETURN_IF_ERROR(compare(world.onNode(n), sign, others[at(n)]));
  return Status::okay();
}

Status MoeNodes::swapCounts(const MoeCallSign &sign, const MoeLayout &layout, int64_t numTokens,
                            dl::CudaStream stream, std::vector<MoeCounts> &counts) {
  const MoeWorld &world = options_.world;
  const size_t experts = sign.numExperts / at(world.numRanks);
  std::vector<int32_t> perExpert(sign.numExperts);
  MoeCounts &own = counts[at(world.rank)];
  COLL_RETURN_IF_ERROR(download(own.perRank.data(), layout.tokensPerRank,
                                own.perRank.size() * sizeof(int32_t), stream));
  COLL_RETURN_IF_ERROR(download(perExpert.data(), layout.tokensPerExpert,
                                perExpert.size() * sizeof(int32_t), stream));
  own.perExpert.assign(perExpert.begin() + world.rank * static_cast<ptrdiff_t>(experts),
                       perExpert.begin() + (world.rank + 1) * static_cast<ptrdiff_t>(experts));
  std::vector<std::vector<char>> out(counts.size()), in(counts.size());
  std::vector<MoeFlow> flows;
  for (size_t r = 0; r < counts.size(); ++r) {
    if (static_cast<int>(r) == world.rank)
      continue;
    counts[r].perRank.resize(at(world.numRanks));
    counts[r].perNode.resize(at(world.numNodes()));
    counts[r].perExpert.resize(experts);
    out[r] = encode({sign, numTokens}, own, perExpert.data() + r * experts, experts);
    in[r].resize(out[r].size());
    const int rank = static_cast<int>(r);
    flows.push_back(bytesFlow(rank, true, kSigns, out[r].data(), out[r].size()));
    flows.push_back(bytesFlow(rank, false, kSigns, in[r].data(), in[r].size()));
  }
  COLL_RETURN_IF_ERROR(run(std::move(flows)));
  for (size_t r = 0; r < counts.size(); ++r) {
    if (static_cast<int>(r) == world.rank)
      continue;
    Told told;
    decode(in[r], told, counts[r]);
    COLL_RETURN_IF_ERROR(compare(static_cast<int>(r), sign, told.sign));
    COLL_RETURN_IF_ERROR(checkMoeCounts(world, static_cast<int>(r), counts[r]));
  }
  return Status::okay();
}

Status MoeNodes::swapRoutes(const std::vector<MoeCounts> &counts,
                            const std::vector<std::vector<MoeRoute>> &here,
                            std::vector<std::vector<MoeRoute>> &there) {
  const MoeWorld &world = options_.world;
  std::vector<std::vector<MoeRoute>> out = here;
  std::vector<MoeFlow> flows;
  for (int n = 0; n < world.numNodes(); ++n) {
    if (n == world.node())
      continue;
    const int rank = world.onNode(n);
    there[at(n)].resize(at(counts[at(rank)].perNode[at(world.node())]));
    flows.push_back(
        bytesFlow(rank, true, kRoutes, out[at(n)].data(), out[at(n)].size() * sizeof(MoeRoute)));
    flows.push_back(bytesFlow(rank, false, kRoutes, there[at(n)].data(),
                              there[at(n)].size() * sizeof(MoeRoute)));
  }
  return run(std::move(flows));
}

Result<std::shared_ptr<MoeRoutes>> MoeNodes::route(const MoeCallSign &sign, const MoeLayout &layout,
                                                   int64_t numTokens, dl::CudaStream stream,
                                                   std::vector<uint8_t> &isTokenInRank) {
  const MoeWorld &world = options_.world;
  ++calls_;
  isTokenInRank.resize(at(numTokens * world.numRanks));
  COLL_RETURN_IF_ERROR(
      download(isTokenInRank.data(), layout.isTokenInRank, isTokenInRank.size(), stream));
  const std::vector<std::vector<MoeRoute>> here =
      moeRoutesOf(world, isTokenInRank.data(), numTokens);
  std::vector<MoeCounts> counts(at(world.numRanks));
  MoeCounts &own = counts[at(world.rank)];
  own.numTokens = numTokens;
  own.perRank.resize(at(world.numRanks));
  for (const std::vector<MoeRoute> &routes : here)
    own.perNode.push_back(static_cast<int32_t>(routes.size()));
  COLL_RETURN_IF_ERROR(swapCounts(sign, layout, numTokens, stream, counts));
  std::vector<std::vector<MoeRoute>> there(at(world.numNodes()));
  COLL_RETURN_IF_ERROR(swapRoutes(counts, here, there));
  Result<std::shared_ptr<MoeRoutes>> routes = makeMoeRoutes(world, counts, here, there);
  if (routes.ok() && (*routes)->maxReceived > sign.capacity)
    return Status::invalid(std::to_string((*routes)->maxReceived) + " tokens for rank " +
                           std::to_string((*routes)->maxReceiver) + ", which takes " +
                           std::to_string(sign.capacity));
  return routes;
}

//===-- rows --------------------------------------------------------------------===//

Result<MoeRelay> MoeNodes::prepare(const std::shared_ptr<const MoeRoutes> &routes,
                                   const kernels::MoeRecord &record, bool isCombine,
                                   dl::CudaStream stream) {
  const MoeRelay relay = relayOf(data(), *routes, record, isCombine);
  if (relay.bytes > static_cast<uint64_t>(options_.netBytes))
    return Status::invalid("netBytes is " + std::to_string(options_.netBytes) +
                           "; the call takes " + std::to_string(relay.bytes));
  COLL_RETURN_IF_ERROR(tokensOfChunk(isCombine ? sumsOf(record) : record).status());
  // What came in an earlier call has been read when its kernels are over.
  COLL_RETURN_IF_ERROR(order(stream, in_));
  if (uploaded_ == routes)
    return relay;
  uploaded_ = nullptr;
  const int size = options_.world.nodeSize;
  // Rows are absolute: no rank has any before it.
  std::vector<int32_t> totals(at(size * size), 0);
  std::copy(routes->memberTokens.begin(), routes->memberTokens.end(), totals.end() - size);
  const auto put = [&](int32_t *to, const std::vector<int32_t> &from) {
    return upload(to, from.data(), from.size() * sizeof(int32_t), stream);
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

Result<int64_t> MoeNodes::tokensOfChunk(const kernels::MoeRecord &record) const {
  const int64_t one = static_cast<int64_t>(kernels::moeRun(record, 1).bytes);
  if (one > options_.chunkBytes)
    return Status::invalid("a token has " + std::to_string(one) + " bytes, netChunkBytes is " +
                           std::to_string(options_.chunkBytes));
  // Alignment makes a run of several shorter than the sum.
  return options_.chunkBytes / one;
}

void MoeNodes::addFlows(std::vector<MoeFlow> &flows, bool isSend, const std::vector<int64_t> &begin,
                        const kernels::MoeRecord &record, int64_t tokens, const Move &move) const {
  const MoeWorld &world = options_.world;
  for (int n = 0; n < world.numNodes(); ++n) {
    const int64_t first = begin[at(n)], count = begin[at(n + 1)] - first;
    if (n == world.node() || count == 0)
      continue;
    MoeFlow flow;
    flow.rank = world.onNode(n);
    flow.isSend = isSend;
    flow.tag = tagOf(kRows);
    flow.numChunks = (count + tokens - 1) / tokens;
    flow.bytes = [=](int64_t chunk) {
      const int64_t part = std::min(tokens, count - chunk * tokens);
      return static_cast<int64_t>(kernels::moeRun(record, static_cast<uint32_t>(part)).bytes);
    };
    flow.move = [=](int64_t chunk, const MoeSlot &slot) {
      return move(first + chunk * tokens, std::min(tokens, count - chunk * tokens), slot);
    };
    flow.stream = isSend ? out_ : in_;
    flows.push_back(std::move(flow));
  }
}

Status MoeNodes::forward(const MoeRoutes &routes, const MoeRelay &relay, const MoeTokens &tokens,
                         const int64_t *topkIdx, const kernels::MoeRecord &record,
                         dl::CudaStream stream) {
  Result<int64_t> each = tokensOfChunk(record);
  if (!each)
    return each.status();
  std::vector<MoeFlow> flows;
  addFlows(flows, true, routes.sendBegin, record, *each,
           [&](int64_t first, int64_t count, const MoeSlot &slot) {
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
             return kernels_.gather(args, out_);
           });
  addFlows(flows, false, routes.relayBegin, record, *each,
           [&](int64_t first, int64_t count, const MoeSlot &slot) {
             const kernels::MoeRun run = kernels::moeRun(record, static_cast<uint32_t>(count));
             const auto take = [&](void *to, uint64_t from, int64_t elem) {
               return elem == 0 ? Status::okay()
                                : driver(gpu_->cuda().memcpyHtoDAsync(
                                             addressOf(to) + static_cast<uint64_t>(first * elem),
                                             slot.host + from, at(count * elem), in_),
                                         "cuMemcpyHtoDAsync");
             };
             COLL_RETURN_IF_ERROR(take(relay.rows, run.rows, record.rowBytes));
             COLL_RETURN_IF_ERROR(take(relay.topkIdx, run.topkIdx, 8 * int64_t{record.numTopk}));
             COLL_RETURN_IF_ERROR(
                 take(relay.topkWeights, run.topkWeights, 4 * int64_t{record.numTopk}));
             return take(relay.scales, run.scales, 4 * int64_t{record.numScales});
           });
  COLL_RETURN_IF_ERROR(run(std::move(flows)));
  return order(in_, stream);
}

Status MoeNodes::back(const MoeRoutes &routes, const MoeRelay &relay,
                      const kernels::MoeRecord &record, dl::CudaStream stream) {
  const kernels::MoeRecord sums = sumsOf(record);
  Result<int64_t> each = tokensOfChunk(sums);
  if (!each)
    return each.status();
  const int64_t rowBytes = sums.rowBytes, weightBytes = 4 * int64_t{sums.numScales};
  std::vector<MoeFlow> flows;
  addFlows(flows, true, routes.relayBegin, sums, *each,
           [&](int64_t first, int64_t count, const MoeSlot &slot) {
             const auto give = [&](uint64_t to, const void *from, int64_t elem) {
               return elem == 0 ? Status::okay()
                                : driver(gpu_->cuda().memcpyDtoHAsync(
                                             slot.host + to,
                                             addressOf(from) + static_cast<uint64_t>(first * elem),
                                             at(count * elem), out_),
                                         "cuMemcpyDtoHAsync");
             };
             const kernels::MoeRun run = kernels::moeRun(sums, static_cast<uint32_t>(count));
             COLL_RETURN_IF_ERROR(give(run.rows, relay.rows, rowBytes));
             return give(run.scales, relay.topkWeights, weightBytes);
           });
  addFlows(flows, false, routes.sendBegin, sums, *each,
           [&](int64_t first, int64_t count, const MoeSlot &slot) {
             const auto take = [&](void *to, uint64_t from, int64_t elem) {
               return elem == 0 ? Status::okay()
                                : driver(gpu_->cuda().memcpyHtoDAsync(
                                             addressOf(to) + static_cast<uint64_t>(first * elem),
                                             slot.host + from, at(count * elem), in_),
                                         "cuMemcpyHtoDAsync");
             };
             const kernels::MoeRun run = kernels::moeRun(sums, static_cast<uint32_t>(count));
             COLL_RETURN_IF_ERROR(take(relay.backRows, run.rows, rowBytes));
             return take(relay.backWeights, run.scales, weightBytes);
           });
  COLL_RETURN_IF_ERROR(run(std::move(flows)));
  return order(in_, stream);
}

} // namespace coll::rt
