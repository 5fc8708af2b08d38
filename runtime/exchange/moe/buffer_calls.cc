// The calls of MoeBuffer inside a node, and the code that they share with calls across nodes.

#include "runtime/base/dtype.h"
#include "runtime/exchange/moe/buffer_words.h"
#include "runtime/exchange/moe/handle.h"

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace coll::rt {

namespace {

kernels::MoeGrid gridOf(const MoeConfig &config) {
  return {static_cast<uint32_t>(config.numSms), 0};
}

} // namespace

// Kernels of all ranks wait for each other, and each block has a multiprocessor to itself.
Status MoeBuffer::checkConfig(const MoeConfig &config) const {
  COLL_RETURN_IF_ERROR(checkMoeConfig(config));
  if (config.numSms > mostSms_)
    return Status::invalid("numSms is " + std::to_string(config.numSms) + "; this rank has " +
                           std::to_string(mostSms_) + " of GPU " + std::to_string(options_.device) +
                           ", which ranks of this process share");
  return Status::okay();
}

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
  if (order.done && nodes_) // for isBusy()
    COLL_RETURN_IF_ERROR(driver(cuda.eventRecord(after_, stream_), "cuEventRecord"));
  return order.done || order.compute == stream_
             ? Status::okay()
             : driver(cuda.streamWaitEvent(order.compute, event, 0), "cuStreamWaitEvent");
}

Status MoeBuffer::dispatchLayout(const MoeRouting &routing, const MoeLayout &layout,
                                 const MoeOrder &order) {
  return named([&]() -> Status {
    COLL_RETURN_IF_ERROR(readyForNormal());
    COLL_RETURN_IF_ERROR(checkMoeRouting(routing, options_.numRanks));
    COLL_RETURN_IF_ERROR(checkMoeLayout(layout, routing.numTokens));
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
  }());
}

int64_t MoeBuffer::handleBytes(int64_t numTokens, int numRanks, const MoeConfig &config) {
  return static_cast<int64_t>(MoeHandlePlaces(numTokens, numRanks, config.numChannels()).bytes);
}

Result<MoeReceived> MoeBuffer::dispatch(const MoeTokens &tokens, const MoeRouting &routing,
                                        const MoeLayout &layout, const MoeDispatchOptions &options,
                                        void *handleMemory, const MoeOrder &order) {
  return named([&]() -> Result<MoeReceived> {
    COLL_RETURN_IF_ERROR(readyForNormal());
    COLL_RETURN_IF_ERROR(checkConfig(options.config));
    COLL_RETURN_IF_ERROR(checkMoeOptions(options));
    COLL_RETURN_IF_ERROR(checkMoeRouting(routing, options_.numRanks));
    COLL_RETURN_IF_ERROR(checkMoeLayout(layout, routing.numTokens));
    COLL_RETURN_IF_ERROR(checkMoeTokens(tokens, routing));
    if (!handleMemory || reinterpret_cast<uintptr_t>(handleMemory) % 16)
      return Status::invalid("`handleMemory` is null or not aligned to 16");
    dl::CudaScope scope(*platform_.cuda, gpu_->context());
    COLL_RETURN_IF_ERROR(joint(scope.status()));
    char *memory = static_cast<char *>(handleMemory);
    if (nodes_)
      return dispatchAcross(tokens, routing, layout, options, memory, order);
    kernels::MoeNotifyArgs notify =
        notifyArgs(layout, routing.numTokens, routing.numExperts, options.config, memory);
    notify.expertAlignment = static_cast<uint32_t>(options.expertAlignment);
    const kernels::MoeShape shape = shapeOf(tokens, routing.numTopk, routing.numExperts);
    notify.capacity = shape.capacity;
    if (options.worstCaseTokens && options.worstCaseTokens < notify.capacity)
      notify.capacity = static_cast<uint32_t>(options.worstCaseTokens);
    notify.counters = options.counters;
    if (!options.worstCaseTokens) {
      std::memset(&words_->counters, -1, sizeof words_->counters);
      notify.counters = &reinterpret_cast<Words *>(pinned_.device())->counters;
    }

    MoeReceived received;
    received.handle = handleIn(memory, layout,
                               std::make_shared<MoeWay>(MoeWay{mark_, routing.numTokens,
                                                               !options.worstCaseTokens, nullptr}),
                               options.config);
    COLL_RETURN_IF_ERROR(begin(order));
    COLL_RETURN_IF_ERROR(platform_.kernels.notify(group_, notify, stream_));
    Status status = move(tokens, shape,
                         {routing.numTokens, routing.topkIdx, notify.rankPrefix, notify.sendHead},
                         options.config, stream_);
    pointTo(shape, received);
    if (status.ok())
      status = end(order);
    if (status.ok() && !options.worstCaseTokens)
      status = awaitCounts(order.done ? order.done : after_, routing.numExperts / options_.numRanks,
                           received);
    // Half of the call was launched; the next call would take late counts for its own.
    if (!status.ok())
      return settle(status);
    return received;
  }());
}

Result<MoeReceived> MoeBuffer::dispatchAgain(const MoeTokens &tokens, const MoeHandle &handle,
                                             const MoeConfig &config, const MoeOrder &order) {
  return named([&]() -> Result<MoeReceived> {
    COLL_RETURN_IF_ERROR(readyForNormal());
    COLL_RETURN_IF_ERROR(checkConfig(config));
    COLL_RETURN_IF_ERROR(checkHandle(handle));
    MoeRouting routing;
    routing.numTokens = handle.numTokens;
    COLL_RETURN_IF_ERROR(checkMoeTokens(tokens, routing));
    dl::CudaScope scope(*platform_.cuda, gpu_->context());
    COLL_RETURN_IF_ERROR(joint(scope.status()));
    if (nodes_)
      return dispatchAgainAcross(tokens, handle, config, order);
    MoeReceived received;
    received.handle = handle;
    COLL_RETURN_IF_ERROR(begin(order));
    const kernels::MoeShape shape = shapeOf(tokens, 0, 0);
    COLL_RETURN_IF_ERROR(move(tokens, shape,
                              {handle.numTokens, nullptr, handle.rankPrefix, handle.sendHead},
                              config, stream_));
    pointTo(shape, received);
    COLL_RETURN_IF_ERROR(end(order));
    return received;
  }());
}

kernels::MoeNotifyArgs MoeBuffer::notifyArgs(const MoeLayout &layout, int64_t numTokens,
                                             int numExperts, const MoeConfig &config,
                                             char *handleMemory) const {
  const MoeHandlePlaces places(numTokens, options_.numRanks, config.numChannels());
  kernels::MoeNotifyArgs notify;
  notify.tokensPerRank = layout.tokensPerRank;
  notify.tokensPerExpert = layout.tokensPerExpert;
  notify.isTokenInRank = layout.isTokenInRank;
  notify.numTokens = static_cast<uint32_t>(numTokens);
  notify.numExperts = static_cast<uint32_t>(numExperts);
  notify.numChannels = static_cast<uint32_t>(config.numChannels());
  notify.rankPrefix = reinterpret_cast<int32_t *>(handleMemory);
  notify.channelPrefix = reinterpret_cast<int32_t *>(handleMemory + places.channelPrefix);
  notify.sendHead = reinterpret_cast<int32_t *>(handleMemory + places.sendHead);
  return notify;
}

Result<MoeHandle> MoeBuffer::places(const MoeLayout &layout, int64_t numTokens, int64_t capacity,
                                    const MoeConfig &config, void *handleMemory,
                                    const MoeOrder &order) {
  return named([&]() -> Result<MoeHandle> {
    COLL_RETURN_IF_ERROR(readyForNormal());
    COLL_RETURN_IF_ERROR(checkConfig(config));
    COLL_RETURN_IF_ERROR(checkMoeLayout(layout, numTokens));
    if (nodes_)
      return Status(kCollUnsupported, "places without a dispatch on several nodes");
    if (numTokens < 0 || capacity < 0 || capacity > INT32_MAX / 2)
      return Status::invalid(std::to_string(numTokens) + " tokens, and a capacity of " +
                             std::to_string(capacity));
    if (!handleMemory || reinterpret_cast<uintptr_t>(handleMemory) % 16)
      return Status::invalid("`handleMemory` is null or not aligned to 16");
    dl::CudaScope scope(*platform_.cuda, gpu_->context());
    COLL_RETURN_IF_ERROR(scope.status());
    char *memory = static_cast<char *>(handleMemory);
    kernels::MoeNotifyArgs notify =
        notifyArgs(layout, numTokens, options_.numRanks, config, memory);
    notify.capacity = static_cast<uint32_t>(capacity);
    COLL_RETURN_IF_ERROR(begin(order));
    COLL_RETURN_IF_ERROR(platform_.kernels.notify(group_, notify, stream_));
    COLL_RETURN_IF_ERROR(end(order));
    return handleIn(memory, layout,
                    std::make_shared<MoeWay>(MoeWay{mark_, numTokens, /*isKnown=*/false, nullptr}),
                    config);
  }());
}

int64_t MoeBuffer::maxReceived(const MoeTokens &tokens, int numTopk) const {
  return shapeOf(tokens, numTopk, 0).capacity;
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
                       const TokenMove &tokenMove, const MoeConfig &config, dl::CudaStream stream) {
  kernels::MoeDispatchArgs args;
  args.shape = shape;
  for (uint32_t r = 0; r < group_.size; ++r)
    args.buffers[r] = areaOf(static_cast<int>(r), kReceived);
  args.numTokens = static_cast<uint32_t>(tokenMove.numTokens);
  args.x = tokens.x;
  args.topkIdx = tokenMove.topkIdx;
  // Members agree on whether indices are sent. A rank without tokens reads none.
  if (shape.numTopk > 0 && !args.topkIdx)
    args.topkIdx = reinterpret_cast<const int64_t *>(area(kReceived));
  args.topkWeights = tokens.topkWeights;
  args.scales = tokens.scales;
  args.scaleTokenStride = tokens.scaleTokenStride;
  args.scaleStride = tokens.scaleStride;
  args.firstExpert = tokenMove.firstExpert;
  args.sourceIdx = tokenMove.sourceIdx;
  args.rankPrefix = tokenMove.rankPrefix;
  args.sendHead = tokenMove.sendHead;
  args.grid = gridOf(config);
  return platform_.kernels.dispatch(group_, args, stream);
}

Status MoeBuffer::checkHandle(const MoeHandle &handle) const {
  if (!handle.way || handle.way->owner != mark_ || handle.way->numTokens != handle.numTokens)
    return Status::invalid("`handle` is not from a dispatch of this buffer");
  return Status::okay();
}

MoeHandle MoeBuffer::handleIn(const char *memory, const MoeLayout &layout,
                              std::shared_ptr<const MoeWay> way, const MoeConfig &config) const {
  const MoeHandlePlaces places(way->numTokens, options_.numRanks, config.numChannels());
  MoeHandle handle;
  handle.rankPrefix = reinterpret_cast<const int32_t *>(memory);
  handle.channelPrefix = reinterpret_cast<const int32_t *>(memory + places.channelPrefix);
  handle.sendHead = reinterpret_cast<const int32_t *>(memory + places.sendHead);
  handle.isTokenInRank = layout.isTokenInRank;
  handle.numTokens = way->numTokens;
  handle.way = std::move(way);
  return handle;
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
  // A quarter later than the kernels' deadline, because they know which rank they have waited for.
  const auto deadline =
      Clock::now() + std::chrono::microseconds(options_.timeoutUs + options_.timeoutUs / 4);
  const kernels::MoeCounters &counters = words_->counters;
  int32_t total = -1;
  bool hasEnded = false;
  while ((total = __atomic_load_n(&counters.received, __ATOMIC_ACQUIRE)) < 0) {
    COLL_RETURN_IF_ERROR(alive());
    if (hasEnded)
      return {kCollDevice, "the kernels have ended without counts"};
    if (Clock::now() > deadline)
      return {kCollTimeout, "timed out waiting for the counts of tokens"};
    // The driver's report of a failed kernel counts too.
    const dl::CudaResult state = platform_.cuda->eventQuery(end);
    if (state != dl::kCudaNotReady)
      COLL_RETURN_IF_ERROR(driver(state, "cuEventQuery"));
    hasEnded = state == dl::kCudaSuccess;
    std::this_thread::yield();
  }
  received.handle.numRecv = total;
  received.tokensPerExpert.assign(counters.perExpert, counters.perExpert + localExperts);
  return alive();
}

Status MoeBuffer::combine(const MoeCombine &combine, const MoeHandle &handle,
                          const MoeConfig &config, const MoeOrder &order) {
  return named([&]() -> Status {
    COLL_RETURN_IF_ERROR(readyForNormal());
    COLL_RETURN_IF_ERROR(checkConfig(config));
    COLL_RETURN_IF_ERROR(checkHandle(handle));
    COLL_RETURN_IF_ERROR(checkMoeCombine(combine, handle));
    if (nodes_ && combine.dtype != kCollBf16)
      return {kCollUnsupported, std::string("between nodes combine adds up rows of bf16, not ") +
                                    dtypeName(combine.dtype)};
    const kernels::MoeShape shape = shapeOf(combine);
    if (nodes_ && handle.way->isKnown)
      COLL_RETURN_IF_ERROR(checkReceivers(*handle.way->routes, shape));
    if (combine.numRows > shape.capacity)
      return Status::invalid("numRows is " + std::to_string(combine.numRows) +
                             "; the buffer holds " + std::to_string(shape.capacity));
    dl::CudaScope scope(*platform_.cuda, gpu_->context());
    COLL_RETURN_IF_ERROR(joint(scope.status()));
    if (nodes_)
      return postCombine(combine, handle, config, order);
    COLL_RETURN_IF_ERROR(begin(order));
    Result<kernels::MoeCombineArgs> args = give(combine, config, stream_);
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
  }());
}

kernels::MoeShape MoeBuffer::shapeOf(const MoeCombine &combine) const {
  kernels::MoeShape shape;
  shape.rowBytes = static_cast<uint32_t>(combine.hidden * dtypeSize(combine.dtype));
  shape.numTopk = static_cast<uint32_t>(combine.numTopk);
  shape.capacity = kernels::moeCapacity(shape, halfBytes());
  return shape;
}

Result<kernels::MoeCombineArgs> MoeBuffer::give(const MoeCombine &combine, const MoeConfig &config,
                                                dl::CudaStream stream) {
  const kernels::MoeShape shape = shapeOf(combine);
  const kernels::MoeArea places = kernels::moeArea(shape);
  const Half half = combine.x == area(kReceived) ? kReceived : kGiven;
  const auto rows = static_cast<size_t>(combine.numRows);
  const auto copy = [&](char *to, const void *from, size_t bytes) {
    if (bytes == 0 || to == from)
      return Status::okay();
    return driver(platform_.cuda->memcpyAsync(reinterpret_cast<dl::CudaAddress>(to),
                                              reinterpret_cast<dl::CudaAddress>(from), bytes,
                                              stream),
                  "cuMemcpyAsync");
  };
  if (half == kGiven)
    COLL_RETURN_IF_ERROR(copy(area(kGiven) + places.rows, combine.x, rows * shape.rowBytes));
  COLL_RETURN_IF_ERROR(copy(area(kGiven) + places.topkWeights, combine.topkWeights,
                            rows * shape.numTopk * sizeof(float)));
  kernels::MoeCombineArgs args;
  args.dtype = combine.dtype;
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
