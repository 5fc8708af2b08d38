#include "runtime/exchange/moe/buffer.h"

#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/exchange/moe/buffer_words.h"
#include "runtime/kernels/moe/index_word.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace coll::rt {

namespace {

using kernels::KernelError;

constexpr int64_t kUnit = 128;
constexpr int64_t kMostBytes = int64_t{1} << 46;
constexpr uint32_t kMaxBlocks = 128;
constexpr uint32_t kPacketBytes = 512;
constexpr uint32_t kSlots = 2;
constexpr std::chrono::milliseconds kReasonTime(500); // for another rank's reason to arrive
// The counts of kernels::MoeCounters::kMaxExperts experts, and of ranks.
constexpr uint64_t kSlotBytes = 4608;

std::string is(const char *what, int64_t value) {
  return std::string(what) + " is " + std::to_string(value);
}

Status checkBytes(const MoeBufferOptions &o, bool isWide) {
  if (o.nvlBytes < (o.lowLatency ? 0 : 1) || o.nvlBytes % kUnit)
    return Status::invalid(is("nvlBytes", o.nvlBytes) + "; it must be a multiple of 128" +
                           (o.lowLatency ? "" : ", and not 0"));
  if (o.netBytes < 0 || o.netBytes % kUnit)
    return Status::invalid(is("netBytes", o.netBytes) + "; it must be a multiple of 128");
  if (o.netBytes > 0 && !isWide && !o.lowLatency)
    return Status::invalid(is("netBytes", o.netBytes) + " without ranks on other nodes");
  if (o.netBytes > 0 && o.nvlBytes > INT_MAX)
    return Status::invalid(is("nvlBytes", o.nvlBytes) + ", beyond INT_MAX");
  if (o.netBytes > INT_MAX && !o.lowLatency)
    return Status::invalid(is("netBytes", o.netBytes) + ", beyond INT_MAX");
  for (const auto &[what, bytes] : {std::pair("nvlBytes", o.nvlBytes), {"netBytes", o.netBytes}})
    if (bytes > kMostBytes)
      return Status::invalid(is(what, bytes) + ", more than any GPU has");
  return Status::okay();
}

Status checkLowLatency(const MoeBufferOptions &o, bool isWide) {
  if (o.numRanks > static_cast<int>(kernels::kLowLatencyRanks))
    return Status::invalid(is("numRanks", o.numRanks) + "; the low-latency mode takes at most " +
                           std::to_string(kernels::kLowLatencyRanks));
  COLL_RETURN_IF_ERROR(checkMoeShape(o.lowLatencyShape, o.numRanks));
  const int64_t needed = MoeBuffer::lowLatencyBytes(o.lowLatencyShape, o.numRanks);
  if (!isWide && o.netBytes > 0 && o.netBytes < needed)
    return Status::invalid(is("netBytes", o.netBytes) + "; the low-latency mode needs " +
                           std::to_string(needed));
  return Status::okay();
}

Status checkNodes(const MoeBufferOptions &o) {
  COLL_RETURN_IF_ERROR(MoeNodes::available());
  if (o.netBytes == 0 && o.nvlBytes > 0)
    return Status::invalid("netBytes is 0, but there are ranks on other nodes");
  if (!o.transport)
    return Status::invalid("`transport` is null, but there are ranks on other nodes");
  if (o.netChunkBytes <= 0 || o.netChunkBytes % 256 || o.netChunkBytes > INT_MAX)
    return Status::invalid(is("netChunkBytes", o.netChunkBytes) + "; it must be a multiple of 256");
  return Status::okay();
}

Status checkOptions(const MoeBufferOptions &o) {
  if (o.rank < 0 || o.rank >= o.numRanks)
    return Status::invalid("`rank` is not one of numRanks, which is " + std::to_string(o.numRanks));
  if (o.numRanks > kMoeMaxRanks)
    return Status::invalid(is("numRanks", o.numRanks) + "; it must be at most " +
                           std::to_string(kMoeMaxRanks));
  if (o.nodeSize < 1 || o.nodeSize > kMoeNodeRanks)
    return Status::invalid(is("nodeSize", o.nodeSize) + "; it must be from 1 to 8");
  if (o.timeoutUs <= 0 || o.timeoutUs > kMostTimeoutUs)
    return Status::invalid(is("timeoutUs", o.timeoutUs) + "; it must be from 1 to " +
                           std::to_string(kMostTimeoutUs));
  const bool isWide = o.numRanks > o.nodeSize;
  COLL_RETURN_IF_ERROR(checkBytes(o, isWide));
  // The normal mode needs the same number of ranks on each node.
  if (isWide && o.numRanks % o.nodeSize && (!o.lowLatency || o.nvlBytes > 0))
    return Status::invalid(is("numRanks", o.numRanks) +
                           "; with several nodes it must be a multiple of nodeSize, which is " +
                           std::to_string(o.nodeSize) +
                           ", unless the low-latency mode is used without nvlBytes");
  if (o.lowLatency)
    COLL_RETURN_IF_ERROR(checkLowLatency(o, isWide));
  return isWide ? checkNodes(o) : Status::okay();
}

std::string whoIs(int rank) { return "moe buffer of rank " + std::to_string(rank); }

CollCode codeOf(uint64_t word) {
  switch (kernels::errorOf(word)) {
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

// Replaces a member's position in the node by its rank; firstRank is the node's first rank.
uint64_t withRank(uint64_t word, uint32_t firstRank) {
  const KernelError error = kernels::errorOf(word);
  const auto detail = static_cast<uint32_t>(word >> 32);
  const bool isOfMember = error >= KernelError::PeerTimeout && error <= KernelError::MoeCapacity;
  return isOfMember && detail < kernels::kRankOfWord
             ? kernels::errorWord(error, kernels::kRankOfWord + firstRank + detail)
             : word;
}

} // namespace

//===-- life --------------------------------------------------------------------===//

Result<std::unique_ptr<MoeBuffer>> MoeBuffer::create(const MoeBufferOptions &options) {
  COLL_RETURN_IF_ERROR(checkOptions(options).annotate(whoIs(options.rank)));
  Result<MoePlatform> platform = moePlatform();
  if (!platform)
    return platform.status().annotate(whoIs(options.rank));
  std::unique_ptr<MoeBuffer> buffer(new MoeBuffer(options, *platform));
  if (Status opened = buffer->open(); !opened.ok()) {
    buffer->release();
    return buffer->named(opened);
  }
  return buffer;
}

Status MoeBuffer::named(const Status &status) const {
  return status.annotate(whoIs(options_.rank));
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
  std::memset(&words_->counters, -1, sizeof words_->counters);
  indexError_ = &reinterpret_cast<Words *>(pinned_.device())->layoutError;

  const auto size = static_cast<uint32_t>(world().members());
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
  if (options_.lowLatency) {
    card_.lowLatency = 1;
    card_.lowLatencyShape = options_.lowLatencyShape;
  }
  const int64_t bytes = options_.lowLatency
                            ? lowLatencyOffset() + lowLatencyRoom()
                            : static_cast<int64_t>(group_.layout.bytes) + options_.nvlBytes;
  Result<std::unique_ptr<MoeMemory>> memory = MoeMemory::create(gpu_, bytes, card_);
  if (!memory)
    return memory.status();
  memory_ = memory.take();
  // Until sync(), only this rank reads these words.
  for (uint32_t r = 0; r < size; ++r)
    group_.workspace[r] = memory_->data();
  stream_ = options_.stream;
  if (!stream_)
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
  MoeNodesOptions nodes;
  nodes.world = world();
  nodes.netBytes = options_.netBytes;
  nodes.chunkBytes = options_.netChunkBytes;
  nodes.timeoutUs = options_.timeoutUs;
  nodes.transport = options_.transport;
  if (options_.lowLatency)
    nodes.lowLatency = lowLatencyCall({}, 0).shape;
  Result<std::unique_ptr<MoeNodes>> made =
      MoeNodes::create(gpu_, platform_.kernels, nodes, [this] { return watch(); });
  if (!made)
    return made.status();
  nodes_ = made.take();
  card_.net = nodes_->handle();
  // The low-latency mode needs it only for lowLatencyClean().
  if (options_.nvlBytes == 0 && !cuda.streamWaitValue)
    return Status::okay();
  Result<std::unique_ptr<CallQueue>> calls = CallQueue::create(gpu_, [this](const Status &failure) {
    (void)settle(failure);
    nodes_->drain(); // afterwards the caller may reuse its memory
  });
  if (!calls)
    return calls.status();
  calls_ = calls.take();
  return Status::okay();
}

Status MoeBuffer::sync(const std::vector<MoeCard> &cards) {
  return named([&]() -> Status {
    if (isDestroyed_ || isAvailable_)
      return Status::invalid(isDestroyed_ ? "sync after destroy" : "sync was called a second time");
    Result<std::vector<char *>> all = memory_->open(card_, cards);
    if (!all)
      return all.status();
    for (size_t r = 0; r < all->size(); ++r)
      group_.workspace[r] = (*all)[r];
    COLL_RETURN_IF_ERROR(share(cards));
    if (nodes_) {
      std::vector<net::Handle> handles;
      for (const MoeCard &card : cards)
        handles.push_back(card.net);
      COLL_RETURN_IF_ERROR(nodes_->connect(handles));
      // Kernels that wait for messages end when no more will arrive.
      if (options_.lowLatency)
        COLL_RETURN_IF_ERROR(nodes_->startLowLatency(
            [this] { __atomic_store_n(&words_->control.abort, 1, __ATOMIC_RELEASE); }));
    }
    isAvailable_ = true;
    return Status::okay();
  }());
}

Status MoeBuffer::share(const std::vector<MoeCard> &cards) {
  uint32_t sharers = 0;
  for (const MoeCard &card : cards)
    sharers += areOfOneProcess(card, card_) && card.device == card_.device;
  int multiprocessors = 0;
  COLL_RETURN_IF_ERROR(driver(platform_.cuda->deviceGetAttribute(
                                  &multiprocessors, dl::kCudaMultiprocessors, options_.device),
                              "cuDeviceGetAttribute"));
  group_.maxBlocks = kernels::residentBlocks(static_cast<uint32_t>(multiprocessors), sharers);
  mostSms_ = multiprocessors / static_cast<int>(sharers);
  return Status::okay();
}

Status MoeBuffer::destroy() {
  return named([&]() -> Status {
    if (isDestroyed_)
      return Status::invalid("destroy was called a second time");
    Status ended;
    if (calls_)
      calls_->finish();
    {
      dl::CudaScope scope(*platform_.cuda, gpu_->context());
      ended = driver(platform_.cuda->streamSynchronize(stream_), "cuStreamSynchronize");
    }
    release();
    return ended;
  }());
}

void MoeBuffer::release() {
  isDestroyed_ = true;
  isAvailable_ = false;
  if (!gpu_)
    return;
  dl::CudaScope scope(*platform_.cuda, gpu_->context());
  calls_.reset();
  if (nodes_ && options_.lowLatency)
    nodes_->stopLowLatency();
  nodes_.reset();
  for (dl::CudaEvent *event : {&before_, &after_})
    if (dl::CudaEvent gone = std::exchange(*event, nullptr))
      (void)platform_.cuda->eventDestroy(gone);
  if (dl::CudaStream gone = std::exchange(stream_, nullptr); gone && !options_.stream)
    (void)platform_.cuda->streamDestroy(gone);
  memory_.reset();
  words_ = nullptr;
  pinned_ = dl::GpuMemory();
  group_ = {};
  card_ = {};
  card_.magic = 0;
}

MoeBuffer::~MoeBuffer() {
  if (isDestroyed_)
    return;
  if (options_.explicitlyDestroy)
    log(LogLevel::Warn, whoIs(options_.rank) + ": not destroyed before its end");
  (void)destroy();
}

//===-- state -------------------------------------------------------------------===//

Status MoeBuffer::check() {
  return named([&]() -> Status {
    COLL_RETURN_IF_ERROR(alive());
    if (uint64_t word = __atomic_exchange_n(&words_->layoutError, 0, __ATOMIC_ACQ_REL))
      return failureOf(word);
    return Status::okay();
  }());
}

Status MoeBuffer::alive() {
  if (isDestroyed_)
    return Status::invalid("used after destroy");
  {
    std::lock_guard<std::mutex> lock(mutex_);
    COLL_RETURN_IF_ERROR(failure_);
  }
  // If no more messages arrive, kernels are told to end; the reason is in the network's failure.
  const bool isFar = nodes_ && options_.lowLatency;
  Status failed = isFar ? nodes_->lowLatencyFailure() : Status::okay();
  if (failed.ok())
    failed = kernelsFailure();
  if (failed.ok() && nodes_ && !isFar && isBusy())
    failed = nodes_->poll();
  if (!failed.ok())
    return nodes_ ? settle(failed) : failed;
  return Status::okay();
}

// Whether kernels of calls that have returned still run: then it is a failure if another rank
// leaves.
bool MoeBuffer::isBusy() const {
  dl::CudaScope scope(*platform_.cuda, gpu_->context());
  return platform_.cuda->eventQuery(after_) == dl::kCudaNotReady;
}

Status MoeBuffer::kernelsFailure() const {
  const uint64_t word = __atomic_load_n(&words_->control.error, __ATOMIC_ACQUIRE);
  return word ? failureOf(word) : Status::okay();
}

Status MoeBuffer::failureOf(uint64_t word) const {
  const auto firstRank = static_cast<uint32_t>(options_.rank - nvlRank());
  return {codeOf(word), kernels::describeErrorWord(withRank(word, firstRank))};
}

Status MoeBuffer::watch() {
  COLL_RETURN_IF_ERROR(kernelsFailure());
  return nodes_->poll();
}

Status MoeBuffer::settle(const Status &failure) {
  const Status told = nodes_ ? reasonOf(failure) : Status::okay();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!failure_.ok())
    return failure_;
  failure_ = told.ok() ? failure : told;
  __atomic_store_n(&words_->control.abort, 1, __ATOMIC_RELEASE);
  if (nodes_)
    nodes_->abort(told.ok() ? failure.annotate("rank " + std::to_string(options_.rank)) : told);
  return failure_;
}

Status MoeBuffer::joint(const Status &part) {
  return nodes_ && !part.ok() && part.code() != kCollInvalidCall ? settle(part) : part;
}

// If a rank has left, that is a better reason than the ranks that were waited for, or that gave up,
// because of it. A rank whose kernels end because another rank's did receives the reason a moment
// later.
Status MoeBuffer::reasonOf(const Status &failure) {
  const bool isAnothers = failure.code() == kCollPeer || failure.code() == kCollAborted;
  const auto end =
      std::chrono::steady_clock::now() + (isAnothers ? kReasonTime : std::chrono::milliseconds(0));
  Status told = nodes_->poll();
  while (told.ok() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    told = nodes_->poll();
  }
  return told;
}

void MoeBuffer::abort() {
  if (words_)
    __atomic_store_n(&words_->control.abort, 1, __ATOMIC_RELEASE);
  if (nodes_)
    nodes_->abort({kCollAborted, "rank " + std::to_string(options_.rank) + " was told to end"});
}

Status MoeBuffer::ready() {
  COLL_RETURN_IF_ERROR(alive());
  return isAvailable_ ? Status::okay() : Status::invalid("used before sync");
}

Status MoeBuffer::readyForNormal() {
  COLL_RETURN_IF_ERROR(ready());
  return options_.nvlBytes > 0
             ? Status::okay()
             : Status::invalid("without nvlBytes it has only the low-latency mode");
}

Result<MoeView> MoeBuffer::localBuffer(CollDtype dtype, int64_t offset, bool useNet) const {
  return named([&]() -> Result<MoeView> {
    if (isDestroyed_)
      return Status::invalid("used after destroy");
    if (useNet && options_.netBytes == 0)
      return Status::invalid("`useNet`: it has no memory for the network");
    const int64_t bytes = useNet ? options_.netBytes : options_.nvlBytes;
    if (!isValidDtype(dtype) || offset < 0 || offset > bytes || offset % dtypeSize(dtype))
      return Status::invalid("`offset`: no element of that type at byte " + std::to_string(offset));
    char *data = area(kReceived);
    if (useNet)
      data = nodes_ ? nodes_->data() : memory_->data() + lowLatencyOffset();
    return MoeView{data + offset, dtype, (bytes - offset) / dtypeSize(dtype)};
  }());
}

} // namespace coll::rt
