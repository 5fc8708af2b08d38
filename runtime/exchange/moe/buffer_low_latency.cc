// The low-latency mode of MoeBuffer: its memory, the turns of its two buffers, and the calls that
// have yet to be received.

#include "runtime/exchange/moe/buffer_words.h"

#include <algorithm>
#include <string>
#include <type_traits>

namespace coll::rt {

namespace {

constexpr int64_t kAlignment = 512;

Status refuse(const std::string &why) { return Status::invalid("low-latency mode: " + why); }

kernels::LowLatencyShape kernelShape(const MoeLowLatencyShape &shape) {
  return {static_cast<uint32_t>(shape.maxTokens), static_cast<uint32_t>(shape.hidden),
          static_cast<uint32_t>(shape.numTopk), static_cast<uint32_t>(shape.numExperts)};
}

// Used in place of the capacity in notifications, so that ranks agree on the shape.
uint32_t numberOf(const MoeLowLatencyShape &shape) {
  uint64_t hash = 0;
  for (int64_t value :
       {shape.maxTokens, shape.hidden, int64_t{shape.numTopk}, int64_t{shape.numExperts}})
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(hash >> 34);
}

kernels::LowLatencyRows kernelRows(const MoeLowLatencyRows &rows) {
  return {rows.x, rows.scales, rows.counts, rows.ranges, rows.sources};
}

} // namespace

//===-- memory ------------------------------------------------------------------===//

int64_t MoeBuffer::lowLatencyBytes(const MoeLowLatencyShape &shape, int numRanks) {
  if (!checkMoeShape(shape, numRanks).ok())
    return 0;
  return 2 * static_cast<int64_t>(kernels::lowLatencyArea(kernelShape(shape)).bytes);
}

int64_t MoeBuffer::lowLatencyHostBytes(const MoeLowLatencyShape &shape, int numRanks,
                                       int nodeSize) {
  if (!checkMoeShape(shape, numRanks).ok() || nodeSize < 1 || nodeSize >= numRanks)
    return 0;
  const kernels::LowLatencyFarArea area = kernels::lowLatencyFarArea(
      kernelShape(shape), static_cast<uint32_t>(numRanks), static_cast<uint32_t>(nodeSize));
  return 2 * static_cast<int64_t>(area.bytes);
}

int64_t MoeBuffer::lowLatencyOffset() const {
  const int64_t before = static_cast<int64_t>(group_.layout.bytes) + options_.nvlBytes;
  return (before + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t MoeBuffer::lowLatencyRoom() const {
  const int64_t needed = lowLatencyBytes(options_.lowLatencyShape, options_.numRanks);
  return options_.numRanks > options_.nodeSize ? needed : std::max(needed, options_.netBytes);
}

dl::CudaAddress MoeBuffer::lowLatencyBuffer(uint64_t number) const {
  const kernels::LowLatencyArea area = kernels::lowLatencyArea(kernelShape(lowLatencyShape_));
  return reinterpret_cast<dl::CudaAddress>(memory_->data() + lowLatencyOffset() +
                                           static_cast<int64_t>(number * area.bytes));
}

Status MoeBuffer::clearLowLatency() {
  const kernels::LowLatencyArea area = kernels::lowLatencyArea(kernelShape(lowLatencyShape_));
  for (uint64_t buffer = 0; buffer < 2; ++buffer)
    COLL_RETURN_IF_ERROR(
        driver(platform_.cuda->memsetD8Async(lowLatencyBuffer(buffer), 0, area.rows, stream_),
               "cuMemsetD8Async"));
  return Status::okay();
}

// Call numbers continue, and so do those of other nodes' messages.
Status MoeBuffer::reshapeLowLatency(const MoeLowLatencyShape &shape) {
  const dl::Cuda &cuda = *platform_.cuda;
  auto &states = words_->lowLatencyStates;
  for (uint64_t buffer = 0; buffer < 2; ++buffer)
    COLL_RETURN_IF_ERROR(driver(cuda.memcpyDtoHAsync(states[buffer], lowLatencyBuffer(buffer),
                                                     sizeof states[buffer], stream_),
                                "cuMemcpyDtoHAsync"));
  lowLatencyShape_ = shape;
  COLL_RETURN_IF_ERROR(clearLowLatency());
  for (uint64_t buffer = 0; buffer < 2; ++buffer)
    COLL_RETURN_IF_ERROR(driver(cuda.memcpyHtoDAsync(lowLatencyBuffer(buffer), states[buffer],
                                                     sizeof states[buffer], stream_),
                                "cuMemcpyHtoDAsync"));
  return Status::okay();
}

Status MoeBuffer::openLowLatency() {
  COLL_RETURN_IF_ERROR(clearLowLatency());
  return platform_.kernels.rehearseLowLatency(group_, stream_);
}

Status MoeBuffer::readyForLowLatency() {
  COLL_RETURN_IF_ERROR(ready());
  return options_.lowLatency ? Status::okay() : refuse("the buffer was made without it");
}

Status MoeBuffer::checkClean(const MoeLowLatencyShape &shape) const {
  if (nodes_ && !calls_)
    return {kCollUnsupported, "low-latency mode: the CUDA driver is too old: its streams cannot "
                              "wait for memory (cuStreamWaitValue)"};
  COLL_RETURN_IF_ERROR(checkMoeShape(shape, options_.numRanks));
  const int64_t needed = lowLatencyBytes(shape, options_.numRanks);
  if (needed > lowLatencyRoom())
    return refuse("`shape` needs " + std::to_string(needed) + " bytes; the buffer has " +
                  std::to_string(lowLatencyRoom()));
  if (nodes_ && !nodes_->fitsLowLatency(kernelShape(shape)))
    return refuse("`shape` has larger messages to other nodes than the one that the buffer was "
                  "made for");
  for (int64_t call = std::max<int64_t>(0, lowLatencyCalls_ - 2); call < lowLatencyCalls_; ++call)
    if (pending_[call % 2].index() != 0)
      return refuse("call " + std::to_string(call) + " was not received: its hook comes first");
  return Status::okay();
}

Status MoeBuffer::lowLatencyClean(const MoeLowLatencyShape &shape, const MoeOrder &order) {
  return named([&]() -> Status {
    COLL_RETURN_IF_ERROR(readyForLowLatency());
    COLL_RETURN_IF_ERROR(checkClean(shape));
    return joint(enqueueClean(shape, order));
  }());
}

Status MoeBuffer::enqueueClean(const MoeLowLatencyShape &shape, const MoeOrder &order) {
  dl::CudaScope scope(*platform_.cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  COLL_RETURN_IF_ERROR(begin(order));
  if (nodes_)
    COLL_RETURN_IF_ERROR(
        post([this, shape] { return nodes_->cleanLowLatency(kernelShape(shape)); }).status());
  // Peers store into these buffers until they have ended their last calls, and again in their next
  // ones.
  COLL_RETURN_IF_ERROR(meet(shape));
  COLL_RETURN_IF_ERROR(reshapeLowLatency(shape));
  COLL_RETURN_IF_ERROR(meet(shape));
  return end(order);
}

// A notification of no tokens, whose words are in neither of the buffers.
Status MoeBuffer::meet(const MoeLowLatencyShape &shape) {
  Words &words = *reinterpret_cast<Words *>(pinned_.device());
  kernels::MoeNotifyArgs notify;
  notify.tokensPerRank = notify.tokensPerExpert = words.noTokens;
  notify.numExperts = group_.size;
  notify.capacity = numberOf(shape);
  notify.rankPrefix = words.rankPrefix;
  notify.channelPrefix = words.channelPrefix;
  return platform_.kernels.notify(group_, notify, stream_);
}

Result<MoeView> MoeBuffer::lowLatencyCombineInput() const {
  return named([&]() -> Result<MoeView> {
    if (isDestroyed_)
      return refuse("used after destroy");
    if (!options_.lowLatency)
      return refuse("the buffer was made without it");
    const auto buffer = static_cast<size_t>(lowLatencyCalls_ % 2);
    if (pending_[buffer].index() != 0)
      return refuse("call " + std::to_string(lowLatencyCalls_ - 2) +
                    ", which uses the same buffer, was not received");
    const MoeLowLatencyShape &shape = lowLatencyShape_;
    const kernels::LowLatencyCall call = lowLatencyCall({}, 0);
    return MoeView{call.buffers[group_.rank] + kernels::lowLatencyArea(call.shape).rows, kCollBf16,
                   shape.numExperts / options_.numRanks * shape.rowsOfExpert(options_.numRanks) *
                       shape.hidden};
  }());
}

//===-- calls -------------------------------------------------------------------===//

kernels::LowLatencyCall MoeBuffer::lowLatencyCall(const MoeRouting &routing, int numSms) const {
  kernels::LowLatencyCall call;
  call.shape = kernelShape(lowLatencyShape_);
  const auto buffer = static_cast<uint64_t>(lowLatencyCalls_ % 2);
  const uint64_t offset = static_cast<uint64_t>(lowLatencyOffset()) +
                          buffer * kernels::lowLatencyArea(call.shape).bytes;
  for (uint32_t r = 0; r < group_.size; ++r)
    call.buffers[r] = group_.workspace[r] + offset;
  if (nodes_)
    call.far = nodes_->lowLatencyFar(lowLatencyCalls_ % 2);
  call.topkIdx = routing.topkIdx;
  call.numTokens = static_cast<uint32_t>(routing.numTokens);
  call.numTopk = static_cast<uint32_t>(routing.numTopk);
  call.grid.blocks = static_cast<uint32_t>(numSms);
  return call;
}

Status MoeBuffer::lowLatencyDispatch(const MoeLowLatencyDispatch &call,
                                     const MoeLowLatencyRows &rows, const MoeOrder &order,
                                     MoeHook *hook) {
  return named([&]() -> Status {
    COLL_RETURN_IF_ERROR(readyForLowLatency());
    COLL_RETURN_IF_ERROR(checkMoeDispatch(call, rows, lowLatencyShape_, options_.numRanks));
    kernels::LowLatencyDispatchArgs args;
    args.call = lowLatencyCall(call.routing, call.numSms);
    args.x = call.x;
    args.fp8 = call.dtype == kCollF8E4M3FN;
    args.out = kernelRows(rows);
    args.stats = call.expertTokens;
    args.error = indexError_;
    return sendLowLatency(args, order, hook);
  }());
}

Status MoeBuffer::lowLatencyCombine(const MoeLowLatencyCombine &call, const MoeLowLatencyRows &rows,
                                    const MoeOrder &order, MoeHook *hook) {
  return named([&]() -> Status {
    COLL_RETURN_IF_ERROR(readyForLowLatency());
    COLL_RETURN_IF_ERROR(checkMoeCombine(call, rows, lowLatencyShape_, options_.numRanks));
    kernels::LowLatencyCombineArgs args;
    args.call = lowLatencyCall(call.routing, call.numSms);
    args.x = call.x;
    args.from = kernelRows(rows);
    args.log = call.log;
    args.topkWeights = call.topkWeights;
    args.out = call.out;
    return sendLowLatency(args, order, hook);
  }());
}

template <typename Args>
Status MoeBuffer::sendLowLatency(Args args, const MoeOrder &order, MoeHook *hook) {
  auto &pending = pending_[lowLatencyCalls_ % 2];
  if (pending.index() != 0)
    return refuse("call " + std::to_string(lowLatencyCalls_ - 2) +
                  " was not received: its hook comes first");
  if (hook)
    args.call.phases = kernels::kLowLatencySend;
  COLL_RETURN_IF_ERROR(launchLowLatency(args, order));
  if (hook) {
    hook->call = lowLatencyCalls_;
    args.call.phases = kernels::kLowLatencyReceive;
    pending = args;
  }
  ++lowLatencyCalls_;
  return Status::okay();
}

Status MoeBuffer::lowLatencyReceive(const MoeHook &hook, const MoeOrder &order) {
  return named([&]() -> Status {
    COLL_RETURN_IF_ERROR(ready());
    if (hook.call < 0 || hook.call >= lowLatencyCalls_ || hook.call < lowLatencyCalls_ - 2 ||
        pending_[hook.call % 2].index() == 0)
      return refuse("call " + std::to_string(hook.call) + " does not wait to be received");
    auto &pending = pending_[hook.call % 2];
    COLL_RETURN_IF_ERROR(std::visit(
        [&](const auto &args) {
          if constexpr (std::is_same_v<std::decay_t<decltype(args)>, std::monostate>)
            return Status::okay();
          else
            return launchLowLatency(args, order);
        },
        pending));
    pending = std::monostate();
    return Status::okay();
  }());
}

template <typename Args>
Status MoeBuffer::launchLowLatency(const Args &args, const MoeOrder &order) {
  return joint([&]() -> Status {
    dl::CudaScope scope(*platform_.cuda, gpu_->context());
    COLL_RETURN_IF_ERROR(scope.status());
    COLL_RETURN_IF_ERROR(begin(order));
    if constexpr (std::is_same_v<Args, kernels::LowLatencyDispatchArgs>)
      COLL_RETURN_IF_ERROR(platform_.kernels.lowLatencyDispatch(group_, args, stream_));
    else
      COLL_RETURN_IF_ERROR(platform_.kernels.lowLatencyCombine(group_, args, stream_));
    // No event is needed if no stream waits for it.
    if (!order.done && order.compute == stream_)
      return Status::okay();
    // If this fails, only the GPU has counted the kernel.
    const Status ended = end(order);
    return ended.ok() ? ended : settle(ended);
  }());
}

} // namespace coll::rt
