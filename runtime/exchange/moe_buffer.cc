#include "runtime/exchange/moe_buffer.h"

#include "runtime/base/dtype.h"
#include "runtime/base/log.h"
#include "runtime/exchange/moe_handle.h"
#include "runtime/kernels/error_word.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <string>
#include <thread>

namespace coll::rt {

// Pinned memory: what the GPU writes, and the host.
struct MoeBuffer::Words {
  kernels::PeerControl control;
  alignas(64) uint64_t layoutError;
  alignas(64) kernels::MoeCounters counters;
};

namespace {

using kernels::KernelError;

constexpr int64_t kUnit = 128;
constexpr uint32_t kMaxBlocks = 128;
constexpr uint32_t kPacketBytes = 512;
constexpr uint32_t kSlots = 2;
// The counts of kernels::MoeCounters::kMaxExperts experts, and of ranks.
constexpr uint64_t kSlotBytes = 4608;

Status refuse(const std::string &why) { return Status::invalid("moe buffer: " + why); }

Status checkOptions(const MoeBufferOptions &o) {
  if (o.rank < 0 || o.rank >= o.numRanks)
    return refuse("rank " + std::to_string(o.rank) + " of " + std::to_string(o.numRanks));
  if (o.nodeSize < 1 || o.nodeSize > kMoeNodeRanks)
    return refuse("nodeSize is " + std::to_string(o.nodeSize) + "; it is from 1 to 8");
  const bool isWide = o.numRanks > o.nodeSize;
  const std::string node = std::to_string(o.nodeSize);
  if (!o.lowLatency && isWide && o.numRanks % o.nodeSize)
    return refuse(std::to_string(o.numRanks) + " ranks; up to " + node + ", or a multiple of " +
                  node);
  if (o.nvlBytes < (o.lowLatency ? 0 : 1) || o.nvlBytes % kUnit || o.netBytes < 0 ||
      o.netBytes % kUnit)
    return refuse("nvlBytes and netBytes are multiples of 128, and nvlBytes is not 0");
  if (o.netBytes != 0 && (o.nvlBytes > INT_MAX || (o.netBytes > INT_MAX && !o.lowLatency)))
    return refuse("nvlBytes or netBytes is beyond INT_MAX");
  if (o.netBytes > 0 && !isWide && !o.lowLatency)
    return refuse("netBytes without ranks on other nodes");
  if (o.timeoutUs <= 0)
    return refuse("timeoutUs is not positive");
  if (o.lowLatency && isWide)
    return {kCollUnsupported, "moe buffer: the low-latency mode between nodes"};
  if (o.lowLatency) {
    COLL_RETURN_IF_ERROR(checkMoeShape(o.lowLatencyShape, o.numRanks));
    if (const int64_t needed = MoeBuffer::lowLatencyBytes(o.lowLatencyShape, o.numRanks);
        o.netBytes > 0 && o.netBytes < needed)
      return refuse("netBytes is " + std::to_string(o.netBytes) + "; the low-latency mode needs " +
                    std::to_string(needed));
  }
  if (isWide && (o.netBytes == 0 || !o.transport))
    return refuse("ranks on other nodes without netBytes or a transport");
  if (isWide && (o.netChunkBytes <= 0 || o.netChunkBytes % 256 || o.netChunkBytes > INT_MAX))
    return refuse("netChunkBytes is a multiple of 256");
  return Status::okay();
}

CollCode codeOf(uint64_t word) {
  switch (static_cast<KernelError>(static_cast<uint32_t>(word))) {
  case KernelError::PeerTimeout:
    return kCollTimeout;
  case KernelError::PeerMismatch:
    return kCollMismatch;
  case KernelError::PeerAborted:
    return kCollAborted;
  case KernelError::MoeCapacity:
  case KernelError::MoeIndex:
    return kCollInvalidCall;
  default:
    return kCollPeer;
  }
}

kernels::MoeGrid gridOf(const MoeConfig &config) {
  return {static_cast<uint32_t>(config.numSms), 0};
}

} // namespace

//===-- life --------------------------------------------------------------------===//

Result<std::unique_ptr<MoeBuffer>> MoeBuffer::create(const MoeBufferOptions &options) {
  COLL_RETURN_IF_ERROR(checkOptions(options));
  Result<MoePlatform> platform = moePlatform();
  if (!platform)
    return platform.status();
  std::unique_ptr<MoeBuffer> buffer(new MoeBuffer(options, *platform));
  if (Status opened = buffer->open(); !opened.ok()) {
    buffer->release();
    return opened.annotate("moe buffer of rank " + std::to_string(options.rank));
  }
  return buffer;
}

Status MoeBuffer::open() {
  const dl::Cuda &cuda = *platform_.cuda;
  Result<std::shared_ptr<dl::GpuContext>> gpu = dl::GpuContext::open(cuda, options_.device);
  if (!gpu)
    return gpu.status();
  gpu_ = gpu.take();
  dl::CudaScope scope(cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  Result<dl::GpuMemory> pinned =
      dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Pinned, sizeof(Words));
  if (!pinned)
    return pinned.status();
  pinned_ = pinned.take();
  std::memset(pinned_.host(), 0, sizeof(Words));
  words_ = reinterpret_cast<Words *>(pinned_.host());
  indexError_ = &reinterpret_cast<Words *>(pinned_.device())->layoutError;

  const auto size = static_cast<uint32_t>(std::min(options_.numRanks, options_.nodeSize));
  group_.rank = static_cast<uint32_t>(nvlRank());
  group_.size = size;
  group_.timeoutNs = static_cast<uint64_t>(options_.timeoutUs) * 1000;
  group_.layout = kernels::workspaceLayout(
      size, {uint64_t{kPacketBytes} * size, kMaxBlocks, kSlotBytes * kSlots * size, kSlots});
  group_.control = &reinterpret_cast<Words *>(pinned_.device())->control;
  card_.rank = options_.rank;
  card_.numRanks = options_.numRanks;
  card_.nodeSize = options_.nodeSize;
  card_.nvlBytes = options_.nvlBytes;
  card_.netBytes = options_.netBytes;
  card_.netChunkBytes = options_.netChunkBytes;
  const int64_t bytes =
      options_.lowLatency
          ? lowLatencyOffset() + lowLatencyBytes(options_.lowLatencyShape, options_.numRanks)
          : static_cast<int64_t>(group_.layout.bytes) + options_.nvlBytes;
  Result<std::unique_ptr<MoeMemory>> memory = MoeMemory::create(gpu_, bytes, card_);
  if (!memory)
    return memory.status();
  memory_ = memory.take();
  // Until sync() nobody but this rank looks there.
  for (uint32_t r = 0; r < size; ++r)
    group_.workspace[r] = memory_->data();
  COLL_RETURN_IF_ERROR(
      driver(cuda.streamCreate(&stream_, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  for (dl::CudaEvent *event : {&before_, &after_})
    COLL_RETURN_IF_ERROR(driver(cuda.eventCreate(event, dl::kCudaEventNoTiming), "cuEventCreate"));
  COLL_RETURN_IF_ERROR(platform_.kernels.init(group_, stream_));
  COLL_RETURN_IF_ERROR(platform_.kernels.rehearse(group_, stream_));
  if (options_.lowLatency)
    COLL_RETURN_IF_ERROR(openLowLatency());
  COLL_RETURN_IF_ERROR(driver(cuda.streamSynchronize(stream_), "cuStreamSynchronize"));
  if (options_.numRanks <= options_.nodeSize)
    return Status::okay();
  const MoeNodesOptions nodes = {world(), options_.netBytes, options_.netChunkBytes,
                                 options_.timeoutUs, options_.transport};
  Result<std::unique_ptr<MoeNodes>> made =
      MoeNodes::create(gpu_, platform_.kernels, nodes, [this] { return watch(); });
  if (!made)
    return made.status();
  nodes_ = made.take();
  card_.net = nodes_->handle();
  return Status::okay();
}

Status MoeBuffer::sync(const std::vector<MoeCard> &cards) {
  if (isDestroyed_ || isAvailable_)
    return refuse(isDestroyed_ ? "sync after destroy" : "a second sync");
  Result<std::vector<char *>> all = memory_->open(card_, cards);
  if (!all)
    return all.status();
  for (size_t r = 0; r < all->size(); ++r)
    group_.workspace[r] = (*all)[r];
  if (nodes_) {
    std::vector<net::Handle> handles;
    for (const MoeCard &card : cards)
      handles.push_back(card.net);
    COLL_RETURN_IF_ERROR(
        nodes_->connect(handles).annotate("moe buffer of rank " + std::to_string(options_.rank)));
  }
  isAvailable_ = true;
  return Status::okay();
}

Status MoeBuffer::destroy() {
  if (isDestroyed_)
    return refuse("a second destroy");
  Status ended;
  {
    dl::CudaScope scope(*platform_.cuda, gpu_->context());
    ended = driver(platform_.cuda->streamSynchronize(stream_), "cuStreamSynchronize");
  }
  release();
  return ended;
}

void MoeBuffer::release() {
  isDestroyed_ = true;
  isAvailable_ = false;
  if (!gpu_)
    return;
  dl::CudaScope scope(*platform_.cuda, gpu_->context());
  nodes_.reset();
  for (dl::CudaEvent event : {before_, after_})
    if (event)
      (void)platform_.cuda->eventDestroy(event);
  if (stream_)
    (void)platform_.cuda->streamDestroy(stream_);
  memory_.reset();
  words_ = nullptr;
  pinned_ = dl::GpuMemory();
}

MoeBuffer::~MoeBuffer() {
  if (isDestroyed_)
    return;
  if (options_.explicitlyDestroy)
    log(LogLevel::Warn,
        "moe buffer of rank " + std::to_string(options_.rank) + ": not destroyed before its end");
  (void)destroy();
}

//===-- state -------------------------------------------------------------------===//

Status MoeBuffer::check() {
  if (isDestroyed_)
    return refuse("used after destroy");
  COLL_RETURN_IF_ERROR(failure_);
  const std::string where = "moe buffer of rank " + std::to_string(options_.rank);
  if (Status failed = kernelsFailure(); !failed.ok())
    return nodes_ ? settle(failed) : failed.annotate(where);
  if (uint64_t word = __atomic_exchange_n(&words_->layoutError, 0, __ATOMIC_ACQ_REL))
    return Status(codeOf(word), kernels::describeErrorWord(word)).annotate(where);
  return Status::okay();
}

Status MoeBuffer::kernelsFailure() const {
  const uint64_t word = __atomic_load_n(&words_->control.error, __ATOMIC_ACQUIRE);
  return word ? Status(codeOf(word), kernels::describeErrorWord(word)) : Status::okay();
}

Status MoeBuffer::watch() {
  COLL_RETURN_IF_ERROR(kernelsFailure());
  return nodes_->links().poll();
}

Status MoeBuffer::settle(const Status &status) {
  const std::string rank = "rank " + std::to_string(options_.rank);
  if (status.ok())
    return status;
  // All ranks refuse alike, and nothing has begun.
  if (status.code() == kCollInvalidCall && watch().ok())
    return status.annotate("moe buffer of " + rank);
  if (failure_.ok()) {
    // Who has left tells more than who then was waited for.
    const Status told = nodes_->links().poll();
    failure_ = (told.ok() ? status : told).annotate("moe buffer of " + rank);
    __atomic_store_n(&words_->control.abort, 1, __ATOMIC_RELEASE);
    nodes_->links().abort(told.ok() ? status.annotate(rank) : told);
  }
  return failure_;
}

void MoeBuffer::abort() {
  if (words_)
    __atomic_store_n(&words_->control.abort, 1, __ATOMIC_RELEASE);
  if (nodes_)
    nodes_->links().abort(
        {kCollAborted, "rank " + std::to_string(options_.rank) + " was told to end"});
}

Status MoeBuffer::ready() {
  COLL_RETURN_IF_ERROR(check());
  return isAvailable_ ? Status::okay() : refuse("used before sync");
}

Result<MoeView> MoeBuffer::localBuffer(CollDtype dtype, int64_t offset, bool useNet) const {
  if (isDestroyed_)
    return refuse("used after destroy");
  if (useNet && !nodes_)
    return refuse("it has no memory for the network");
  const int64_t bytes = useNet ? options_.netBytes : options_.nvlBytes;
  if (!isValidDtype(dtype) || offset < 0 || offset > bytes || offset % dtypeSize(dtype))
    return refuse("no element of that type at byte " + std::to_string(offset));
  char *data = useNet ? nodes_->data() : area(kReceived);
  return MoeView{data + offset, dtype, (bytes - offset) / dtypeSize(dtype)};
}

//===-- calls -------------------------------------------------------------------===//

Status MoeBuffer::begin(const MoeOrder &order) {
  const dl::Cuda &cuda = *platform_.cuda;
  dl::CudaEvent event = order.previous;
  if (!event && order.compute == stream_)
    return Status::okay();
  if (!event) {
    COLL_RETURN_IF_ERROR(driver(cuda.eventRecord(before_, order.compute), "cuEventRecord"));
    event = before_;
  }
  return driver(cuda.streamWaitEvent(stream_, event, 0), "cuStreamWaitEvent");
}

Status MoeBuffer::end(const MoeOrder &order) {
  const dl::Cuda &cuda = *platform_.cuda;
  const dl::CudaEvent event = order.done ? order.done : after_;
  COLL_RETURN_IF_ERROR(driver(cuda.eventRecord(event, stream_), "cuEventRecord"));
  return order.done || order.compute == stream_
             ? Status::okay()
             : driver(cuda.streamWaitEvent(order.compute, event, 0), "cuStreamWaitEvent");
}

Status MoeBuffer::dispatchLayout(const MoeRouting &routing, const MoeLayout &layout,
                                 const MoeOrder &order) {
  COLL_RETURN_IF_ERROR(ready());
  COLL_RETURN_IF_ERROR(checkMoeRouting(routing, options_.numRanks));
  dl::CudaScope scope(*platform_.cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  const auto nodes = static_cast<uint32_t>(numNetRanks());
  COLL_RETURN_IF_ERROR(begin(order));
  for (uint32_t n = 0; n < nodes; ++n) {
    kernels::MoeLayoutArgs args;
    args.topkIdx = routing.topkIdx;
    args.numTokens = static_cast<uint32_t>(routing.numTokens);
    args.numTopk = static_cast<uint32_t>(routing.numTopk);
    args.allExperts = static_cast<uint32_t>(routing.numExperts);
    args.numExperts = args.allExperts / nodes;
    args.firstExpert = n * args.numExperts;
    args.numRanks = group_.size;
    args.rankStride = static_cast<uint32_t>(options_.numRanks);
    args.tokensPerRank = layout.tokensPerRank + n * group_.size;
    args.tokensOfAny = layout.tokensPerNetRank ? layout.tokensPerNetRank + n : nullptr;
    args.tokensPerExpert = layout.tokensPerExpert + args.firstExpert;
    args.isTokenInRank = layout.isTokenInRank + n * group_.size;
    args.error = indexError_;
    COLL_RETURN_IF_ERROR(platform_.kernels.layout(args, stream_));
  }
  return end(order);
}

int64_t MoeBuffer::handleBytes(int64_t numTokens, int numRanks, const MoeConfig &config) {
  return static_cast<int64_t>(MoeHandlePlaces(numTokens, numRanks, config.numChannels()).bytes);
}

Result<MoeReceived> MoeBuffer::dispatch(const MoeTokens &tokens, const MoeRouting &routing,
                                        const MoeLayout &layout, const MoeDispatchOptions &options,
                                        void *handleMemory, const MoeOrder &order) {
  COLL_RETURN_IF_ERROR(ready());
  COLL_RETURN_IF_ERROR(checkMoeOptions(options));
  COLL_RETURN_IF_ERROR(checkMoeRouting(routing, options_.numRanks));
  COLL_RETURN_IF_ERROR(checkMoeTokens(tokens, routing));
  if (!handleMemory || reinterpret_cast<uintptr_t>(handleMemory) % 16)
    return refuse("`handleMemory` is null or not aligned to 16");
  dl::CudaScope scope(*platform_.cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  const MoeHandlePlaces places(routing.numTokens, options_.numRanks, options.config.numChannels());
  char *memory = static_cast<char *>(handleMemory);
  if (nodes_)
    return dispatchAcross(tokens, routing, layout, options, memory, order);
  kernels::MoeNotifyArgs notify;
  notify.tokensPerRank = layout.tokensPerRank;
  notify.tokensPerExpert = layout.tokensPerExpert;
  notify.isTokenInRank = layout.isTokenInRank;
  notify.numTokens = static_cast<uint32_t>(routing.numTokens);
  notify.numExperts = static_cast<uint32_t>(routing.numExperts);
  notify.numChannels = static_cast<uint32_t>(options.config.numChannels());
  notify.expertAlignment = static_cast<uint32_t>(options.expertAlignment);
  const kernels::MoeShape shape = shapeOf(tokens, routing.numTopk, routing.numExperts);
  notify.capacity = shape.capacity;
  if (options.worstCaseTokens && options.worstCaseTokens < notify.capacity)
    notify.capacity = static_cast<uint32_t>(options.worstCaseTokens);
  notify.rankPrefix = reinterpret_cast<int32_t *>(memory);
  notify.channelPrefix = reinterpret_cast<int32_t *>(memory + places.channelPrefix);
  notify.sendHead = reinterpret_cast<int32_t *>(memory + places.sendHead);
  if (!options.worstCaseTokens) {
    std::memset(&words_->counters, -1, sizeof words_->counters);
    notify.counters = &reinterpret_cast<Words *>(pinned_.device())->counters;
  }

  MoeReceived received;
  received.handle.rankPrefix = notify.rankPrefix;
  received.handle.channelPrefix = notify.channelPrefix;
  received.handle.sendHead = notify.sendHead;
  received.handle.isTokenInRank = layout.isTokenInRank;
  received.handle.numTokens = routing.numTokens;
  COLL_RETURN_IF_ERROR(begin(order));
  COLL_RETURN_IF_ERROR(platform_.kernels.notify(group_, notify, stream_));
  COLL_RETURN_IF_ERROR(
      move(tokens, shape, {routing.numTokens, routing.topkIdx, notify.rankPrefix, notify.sendHead},
           options.config));
  pointTo(shape, received);
  COLL_RETURN_IF_ERROR(end(order));
  if (!options.worstCaseTokens)
    COLL_RETURN_IF_ERROR(awaitCounts(order.done ? order.done : after_,
                                     routing.numExperts / options_.numRanks, received));
  return received;
}

Result<MoeReceived> MoeBuffer::dispatchAgain(const MoeTokens &tokens, const MoeHandle &handle,
                                             const MoeConfig &config, const MoeOrder &order) {
  COLL_RETURN_IF_ERROR(ready());
  COLL_RETURN_IF_ERROR(checkMoeConfig(config));
  MoeRouting routing;
  routing.numTokens = handle.numTokens;
  COLL_RETURN_IF_ERROR(checkMoeTokens(tokens, routing));
  if (!handle.rankPrefix || (handle.numTokens > 0 && !handle.sendHead))
    return refuse("`handle` is none of a dispatch");
  dl::CudaScope scope(*platform_.cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  if (nodes_)
    COLL_RETURN_IF_ERROR(checkRoutes(handle));
  MoeReceived received;
  received.handle = handle;
  COLL_RETURN_IF_ERROR(begin(order));
  if (nodes_) {
    COLL_RETURN_IF_ERROR(settle(moveAcross(tokens, nullptr, handle.routes, config, received)));
  } else {
    const kernels::MoeShape shape = shapeOf(tokens, 0, 0);
    COLL_RETURN_IF_ERROR(move(
        tokens, shape, {handle.numTokens, nullptr, handle.rankPrefix, handle.sendHead}, config));
    pointTo(shape, received);
  }
  COLL_RETURN_IF_ERROR(end(order));
  return received;
}

kernels::MoeShape MoeBuffer::shapeOf(const MoeTokens &tokens, int numTopk, int numExperts) const {
  kernels::MoeShape shape;
  shape.rowBytes = static_cast<uint32_t>(tokens.hidden * dtypeSize(tokens.dtype));
  shape.numScales = static_cast<uint32_t>(tokens.numScales);
  shape.numTopk = static_cast<uint32_t>(numTopk);
  shape.numExperts = static_cast<uint32_t>(numExperts);
  shape.capacity = kernels::moeCapacity(shape, halfBytes());
  return shape;
}

Status MoeBuffer::move(const MoeTokens &tokens, const kernels::MoeShape &shape,
                       const Passage &passage, const MoeConfig &config) {
  kernels::MoeDispatchArgs args;
  args.shape = shape;
  for (uint32_t r = 0; r < group_.size; ++r)
    args.buffers[r] = areaOf(static_cast<int>(r), kReceived);
  args.numTokens = static_cast<uint32_t>(passage.numTokens);
  args.x = tokens.x;
  args.topkIdx = passage.topkIdx;
  // Members agree whether indices travel; of no tokens none is read.
  if (shape.numTopk > 0 && !args.topkIdx)
    args.topkIdx = reinterpret_cast<const int64_t *>(area(kReceived));
  args.topkWeights = tokens.topkWeights;
  args.scales = tokens.scales;
  args.scaleTokenStride = tokens.scaleTokenStride;
  args.scaleStride = tokens.scaleStride;
  args.firstExpert = passage.firstExpert;
  args.sourceIdx = passage.sourceIdx;
  args.rankPrefix = passage.rankPrefix;
  args.sendHead = passage.sendHead;
  args.grid = gridOf(config);
  return platform_.kernels.dispatch(group_, args, stream_);
}

void MoeBuffer::pointTo(const kernels::MoeShape &shape, MoeReceived &received) const {
  const kernels::MoeArea places = kernels::moeArea(shape);
  const bool hasIndices = shape.numTopk > 0;
  char *mine = area(kReceived);
  received.x = mine + places.rows;
  received.scales = shape.numScales ? reinterpret_cast<float *>(mine + places.scales) : nullptr;
  received.topkIdx = hasIndices ? reinterpret_cast<int64_t *>(mine + places.topkIdx) : nullptr;
  received.topkWeights =
      hasIndices ? reinterpret_cast<float *>(mine + places.topkWeights) : nullptr;
  received.handle.recvSourceIdx = reinterpret_cast<int32_t *>(mine + places.sourceIdx);
}

Status MoeBuffer::awaitCounts(dl::CudaEvent end, int localExperts, MoeReceived &received) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::microseconds(options_.timeoutUs);
  const kernels::MoeCounters &counters = words_->counters;
  int32_t total = -1;
  bool hasEnded = false;
  while ((total = __atomic_load_n(&counters.received, __ATOMIC_ACQUIRE)) < 0) {
    COLL_RETURN_IF_ERROR(check());
    if (hasEnded)
      return {kCollDevice, "moe buffer: the kernels have ended without counts"};
    if (Clock::now() > deadline)
      return {kCollTimeout, "moe buffer of rank " + std::to_string(options_.rank) +
                                ": the counts of tokens did not come in time"};
    // Also where the driver says that a kernel has failed.
    const dl::CudaResult state = platform_.cuda->eventQuery(end);
    if (state != dl::kCudaNotReady)
      COLL_RETURN_IF_ERROR(driver(state, "cuEventQuery"));
    hasEnded = state == dl::kCudaSuccess;
    std::this_thread::yield();
  }
  received.handle.numRecv = total;
  received.tokensPerExpert.assign(counters.perExpert, counters.perExpert + localExperts);
  return check();
}

Status MoeBuffer::combine(const MoeCombine &combine, const MoeHandle &handle,
                          const MoeConfig &config, const MoeOrder &order) {
  COLL_RETURN_IF_ERROR(ready());
  COLL_RETURN_IF_ERROR(checkMoeConfig(config));
  COLL_RETURN_IF_ERROR(checkMoeCombine(combine, handle));
  dl::CudaScope scope(*platform_.cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  if (nodes_) {
    COLL_RETURN_IF_ERROR(checkRoutes(handle));
    COLL_RETURN_IF_ERROR(begin(order));
    COLL_RETURN_IF_ERROR(settle(combineAcross(combine, handle, config)));
    return end(order);
  }
  COLL_RETURN_IF_ERROR(begin(order));
  Result<kernels::MoeCombineArgs> args = give(combine, config);
  if (!args)
    return args.status();
  args->numTokens = static_cast<uint32_t>(handle.numTokens);
  args->rankPrefix = handle.rankPrefix;
  args->sendHead = handle.sendHead;
  args->bias[0] = combine.bias[0];
  args->bias[1] = combine.bias[1];
  args->out = combine.out;
  args->outWeights = combine.outWeights;
  COLL_RETURN_IF_ERROR(platform_.kernels.combine(group_, *args, stream_));
  return end(order);
}

Result<kernels::MoeCombineArgs> MoeBuffer::give(const MoeCombine &combine,
                                                const MoeConfig &config) {
  kernels::MoeShape shape;
  shape.rowBytes = static_cast<uint32_t>(combine.hidden * dtypeSize(kCollBf16));
  shape.numTopk = static_cast<uint32_t>(combine.numTopk);
  shape.capacity = kernels::moeCapacity(shape, halfBytes());
  if (combine.numRows > shape.capacity)
    return refuse(std::to_string(combine.numRows) + " rows; the buffer holds " +
                  std::to_string(shape.capacity));
  const kernels::MoeArea places = kernels::moeArea(shape);
  const Half half = combine.x == area(kReceived) ? kReceived : kGiven;
  const auto rows = static_cast<size_t>(combine.numRows);
  const auto copy = [&](char *to, const void *from, size_t bytes) {
    if (bytes == 0 || to == from)
      return Status::okay();
    return driver(platform_.cuda->memcpyAsync(reinterpret_cast<dl::CudaAddress>(to),
                                              reinterpret_cast<dl::CudaAddress>(from), bytes,
                                              stream_),
                  "cuMemcpyAsync");
  };
  if (half == kGiven)
    COLL_RETURN_IF_ERROR(copy(area(kGiven) + places.rows, combine.x, rows * shape.rowBytes));
  COLL_RETURN_IF_ERROR(copy(area(kGiven) + places.topkWeights, combine.topkWeights,
                            rows * shape.numTopk * sizeof(float)));
  kernels::MoeCombineArgs args;
  args.rowBytes = shape.rowBytes;
  args.numTopk = shape.numTopk;
  args.capacity = shape.capacity;
  args.variant = half;
  for (uint32_t r = 0; r < group_.size; ++r) {
    args.rows[r] = areaOf(static_cast<int>(r), half) + places.rows;
    args.topkWeights[r] =
        reinterpret_cast<float *>(areaOf(static_cast<int>(r), kGiven) + places.topkWeights);
  }
  args.grid = gridOf(config);
  return args;
}

} // namespace coll::rt
