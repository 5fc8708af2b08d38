#include "runtime/step/tokens/room.h"

#include "runtime/base/env.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace coll::rt {

namespace {

constexpr int64_t kAlignment = 512;
// Leave room for the kernels of other groups that share the GPU.
constexpr int kMostSms = 24, kSharesOfGpu = 2;
constexpr int kQueues = 32; // of a GPU, at most
// Sizes for which the driver uses different ways of copying.
constexpr int64_t kRehearsedBytes[] = {4, 512, 64 << 10, 1 << 20};

int64_t roundUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// A member's answer, the same bytes in all processes.
struct Offer {
  int32_t isGood = 0;
  int32_t processors = 0; // of its GPU
  int32_t ranksOnGpu = 1; // TokenOptions
  char why[256] = {};     // not good
  MoeCard card;
};

constexpr size_t kOfferWords = (sizeof(Offer) + sizeof(int64_t) - 1) / sizeof(int64_t);

Offer offerOf(const Status &status) {
  Offer offer;
  offer.isGood = status.ok();
  status.message().copy(offer.why, sizeof(offer.why) - 1);
  return offer;
}

// The answers of all members. kCollUnsupported if one of them cannot go on.
Result<std::vector<Offer>> meet(TokenCalls &calls, const Offer &mine) {
  static_assert(std::is_trivially_copyable_v<Offer>);
  std::vector<int64_t> words(kOfferWords);
  std::memcpy(words.data(), &mine, sizeof(mine));
  Result<std::vector<int64_t>> all = calls.gather(words);
  if (!all)
    return all.status();
  std::vector<Offer> offers(static_cast<size_t>(calls.n()));
  for (size_t p = 0; p < offers.size(); ++p) {
    std::memcpy(static_cast<void *>(&offers[p]), all->data() + p * kOfferWords, sizeof(Offer));
    offers[p].why[sizeof(offers[p].why) - 1] = 0;
    if (!offers[p].isGood)
      return Status(kCollUnsupported, calls.rankAt(static_cast<int64_t>(p)) + ": " + offers[p].why);
  }
  return offers;
}

// Blocks for each kernel: those of all ranks on a GPU run at the same time.
int smsFor(const std::vector<Offer> &offers) {
  int sms = kMostSms;
  for (const Offer &offer : offers)
    sms = std::min(sms, offer.processors / (kSharesOfGpu * offer.ranksOnGpu));
  return std::max(sms / 2 * 2, 2);
}

// Ok, or why kernels of these members, of one process, could wait for each other for ever: in a
// queue of the GPU that two streams share, one kernel would be behind another that waits for it,
// or for a member of another group that is behind a third.
Status checkQueues(const std::vector<Offer> &offers) {
  // A member that is alone does not wait.
  const bool isShared =
      offers.size() > 1 && std::any_of(offers.begin(), offers.end(),
                                       [](const Offer &offer) { return offer.ranksOnGpu > 1; });
  const std::string queues = foreignEnv("CUDA_DEVICE_MAX_CONNECTIONS").value_or("8");
  return !isShared || std::atoi(queues.c_str()) >= kQueues
             ? Status()
             : Status(kCollUnsupported,
                      "ranks share a GPU, which needs a queue for each of their streams: set "
                      "CUDA_DEVICE_MAX_CONNECTIONS=32 before CUDA starts");
}

} // namespace

TokenScratch::TokenScratch(int64_t tokens, int64_t topk, int64_t experts, int64_t ranks) {
  MoeConfig most;
  most.numSms = kMostSms;
  const auto take = [&](int64_t size) {
    const int64_t at = bytes;
    bytes += roundUp(size);
    return at;
  };
  topkIdx = take(tokens * topk * static_cast<int64_t>(sizeof(int64_t)));
  tokensPerRank = take(ranks * static_cast<int64_t>(sizeof(int32_t)));
  tokensPerExpert = take(experts * static_cast<int64_t>(sizeof(int32_t)));
  isTokenInRank = take(tokens * ranks);
  handle = take(MoeBuffer::handleBytes(tokens, static_cast<int>(ranks), most));
  counters = take(sizeof(kernels::MoeCounters));
}

TokenNeed tokenNeed(int64_t capacity, int64_t rowBytes, int64_t numScales, int64_t topk,
                    const TokenScratch &scratch) {
  kernels::MoeShape shape;
  shape.rowBytes = static_cast<uint32_t>(rowBytes);
  shape.numScales = static_cast<uint32_t>(numScales);
  shape.numTopk = static_cast<uint32_t>(topk);
  shape.capacity = static_cast<uint32_t>(capacity);
  return {static_cast<int64_t>(kernels::moeArea(shape).bytes), scratch.bytes};
}

Status TokenRoom::prepare(gpu::Gpu &gpu, const TokenKernels &kernels, dl::CudaStream stream,
                          const TokenOptions &options, const TokenCalls &calls) {
  Result<MoePlatform> platform = moePlatform();
  if (!platform)
    return platform.status();
  if (platform->cuda != &gpu.cuda())
    return {kCollUnsupported, "the exchange uses another driver than the step"};
  for (auto [memory, kind, bytes] :
       {std::tuple(&scratch_, dl::GpuMemory::Kind::Device, size_.scratchBytes),
        {&error_, dl::GpuMemory::Kind::Pinned, int64_t{sizeof(uint32_t)}}}) {
    Result<dl::GpuMemory> made = dl::GpuMemory::create(gpu.context(), kind, bytes);
    if (!made)
      return made.status();
    *memory = made.take();
  }
  std::memset(error_.host(), 0, sizeof(uint32_t));
  MoeBufferOptions exchange;
  exchange.rank = static_cast<int>(calls.me());
  exchange.numRanks = static_cast<int>(calls.n());
  exchange.nvlBytes = 2 * size_.halfBytes;
  exchange.device = gpu.ordinal();
  exchange.timeoutUs = options.timeoutUs;
  exchange.stream = stream;
  Result<std::unique_ptr<MoeBuffer>> made = MoeBuffer::create(exchange);
  if (!made)
    return made.status();
  buffer_ = made.take();
  // What the driver would load at first use, it loads now: then it could wait for running kernels
  // of other ranks on this GPU, which wait for this rank.
  COLL_RETURN_IF_ERROR(kernels.rehearse(stream));
  char *half = static_cast<char *>(buffer_->combineInput());
  for (int64_t bytes : kRehearsedBytes)
    COLL_RETURN_IF_ERROR(gpu.copy(
        {half, scratch_.device(), 0, 0, std::min({bytes, size_.halfBytes, size_.scratchBytes}), 1},
        stream));
  return gpu.context()->check(gpu.cuda().streamSynchronize(stream), "cuStreamSynchronize");
}

Result<std::unique_ptr<TokenRoom>> TokenRoom::open(gpu::Gpu &gpu, const TokenKernels &kernels,
                                                   dl::CudaStream stream,
                                                   const TokenOptions &options,
                                                   const TokenNeed &need, TokenCalls &calls) {
  std::unique_ptr<TokenRoom> room(new TokenRoom());
  room->size_ = {roundUp(need.halfBytes), need.scratchBytes};
  Status ready = room->prepare(gpu, kernels, stream, options, calls);
  Offer mine = offerOf(ready);
  mine.ranksOnGpu = options.ranksOnGpu;
  if (ready.ok()) {
    mine.card = room->buffer_->card();
    ready = gpu.context()->check(
        gpu.cuda().deviceGetAttribute(&mine.processors, dl::kCudaMultiprocessors, gpu.ordinal()),
        "cuDeviceGetAttribute");
  }
  Result<std::vector<Offer>> offers = meet(calls, mine);
  if (!offers)
    return offers.status();
  std::vector<MoeCard> cards;
  for (const Offer &offer : *offers)
    cards.push_back(offer.card);
  const bool isOneProcess = std::all_of(cards.begin(), cards.end(), [&](const MoeCard &card) {
    return areOfOneProcess(card, mine.card);
  });
  if (!isOneProcess)
    return Status(kCollUnsupported, "the group's ranks are in several processes");
  COLL_RETURN_IF_ERROR(checkQueues(*offers));
  if (ready.ok())
    ready = room->buffer_->sync(cards);
  if (Result<std::vector<Offer>> synced = meet(calls, offerOf(ready)); !synced)
    return synced.status();
  room->config_.numSms = smsFor(*offers);
  return room;
}

Status TokenRoom::check() {
  const auto error = static_cast<kernels::RouteError>(
      __atomic_load_n(reinterpret_cast<uint32_t *>(error_.host()), __ATOMIC_ACQUIRE));
  // Peers fail because of a foreign route; and counts that did not arrive make a route look
  // changed.
  if (error == kernels::RouteError::Foreign)
    return Status::invalid("combine: the route is not of a dispatch like this over this group");
  COLL_RETURN_IF_ERROR(buffer_->check());
  if (error == kernels::RouteError::Changed)
    return {kCollMismatch, "combine: other rows return than the dispatch has received"};
  return {};
}

} // namespace coll::rt
