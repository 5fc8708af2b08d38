#include "runtime/step/tokens/on_gpu.h"

#include "runtime/base/dtype.h"
#include "runtime/base/log.h"
#include "runtime/step/tokens/room.h"

#include <algorithm>
#include <map>
#include <set>

namespace coll::rt {

namespace {

constexpr int64_t kRowUnit = 16;

bool isAligned(const void *data) { return reinterpret_cast<uintptr_t>(data) % kRowUnit == 0; }

uint32_t narrow(int64_t value) { return static_cast<uint32_t>(value); }

// A call as this member makes it: equal calls need no second agreement in a capture.
using CallKey = std::vector<int64_t>;

// Why this member's call cannot be made on the GPU; empty: it can.
std::string refusalOf(int64_t ranks, const RouteShape &shape, int64_t rowBytes,
                      std::initializer_list<const void *> rows) {
  if (ranks > static_cast<int64_t>(kernels::kMaxPeers))
    return "the group has more than " + std::to_string(kernels::kMaxPeers) + " ranks";
  if (rowBytes == 0 || rowBytes % kRowUnit)
    return "a row has " + std::to_string(rowBytes) + " bytes, not a multiple of 16";
  if (shape.capacity == 0)
    return "there is no room for rows";
  if (!std::all_of(rows.begin(), rows.end(), isAligned))
    return "rows are not aligned to 16 bytes";
  return "";
}

class Exchange final : public TokensOnGpu {
public:
  Exchange(gpu::Gpu &gpu, const TokenKernels &kernels, dl::CudaStream stream,
           const TokenOptions &options)
      : gpu_(gpu), kernels_(kernels), stream_(stream), options_(options) {}

  Result<Way> agree(const TokenDispatch &dispatch, int32_t &serial, const TokenPlace &place,
                    bool isCapturing) override;
  Result<Way> agree(const TokenCombine &combine, const TokenPlace &place,
                    bool isCapturing) override;
  Status dispatch(const TokenDispatch &dispatch, int32_t serial, const TokenPlace &place) override;
  Status combine(const TokenCombine &combine, const TokenPlace &place) override;

  bool isUsed() const override { return !rooms_.empty(); }
  Status check() override;
  void abort() override {
    for (const auto &room : rooms_)
      room->buffer().abort();
  }

private:
  struct Group {
    TokenRoom *room = nullptr; // the largest; null: none is open
    std::string refusal;       // of all calls
    std::set<CallKey> agreed;
    std::set<std::string> told; // reasons that were logged
  };

  Result<Way> agree(const Greeting &greeting, int64_t rowBytes, const std::string &refusal,
                    const TokenPlace &place, bool isCapturing, int32_t *serial);
  // Opens a room for the need, or sets the group's refusal: the same on all members.
  Status makeRoom(Group &group, TokenNeed need, TokenCalls &calls, const TokenPlace &place);
  Way throughHost(Group &group, const std::string &why, const TokenPlace &place);
  // With the tokens' experts as i64, in `widened` if the program's are narrower.
  Result<MoeRouting> routingOf(const TokenDispatch &dispatch, int64_t ranks, char *widened);
  Group &groupOf(const TokenPlace &place) { return groups_[&place.communicator]; }
  MoeOrder order() const {
    MoeOrder order;
    order.compute = stream_;
    return order;
  }

  gpu::Gpu &gpu_;
  const TokenKernels kernels_;
  const dl::CudaStream stream_;
  const TokenOptions options_;
  std::map<const Communicator *, Group> groups_;
  // Also those that were too small for later calls: graphs use them, and freeing memory waits for
  // all kernels of the GPU, one of which may wait for this rank.
  std::vector<std::unique_ptr<TokenRoom>> rooms_;
};

TokensOnGpu::Way Exchange::throughHost(Group &group, const std::string &why,
                                       const TokenPlace &place) {
  if (group.told.insert(why).second && place.communicator.position() == 0)
    log(LogLevel::Info, "tokens of " + describeGroup(place.communicator.ranks()) +
                            " are exchanged through the host: " + why);
  return Way::Host;
}

// Why the members' calls cannot be made on the GPU, the same on all of them; empty: they can.
std::string refusalOf(const Greetings &all, const TokenCalls &calls, const std::string &mine) {
  for (int64_t p = 0; p < calls.n(); ++p) {
    if (all.of(p).needsHost)
      return p == calls.me() ? mine : calls.rankAt(p) + " asks for it";
    if (all.of(p).capacity != all.of(0).capacity)
      return "the ranks' capacities differ";
  }
  return "";
}

// What the largest of the members' calls needs.
TokenNeed needOf(const Greetings &all, int64_t n, int64_t rowBytes) {
  const Greeting &call = all.of(0);
  int64_t tokens = 0;
  for (int64_t p = 0; p < n; ++p)
    tokens = std::max(tokens, all.of(p).tokens);
  const int64_t experts = std::max<int64_t>(call.localExperts, 1) * n;
  return tokenNeed(call.capacity, rowBytes, call.numScales, call.combines ? 0 : call.topk,
                   TokenScratch(tokens, call.topk, experts, n));
}

Result<TokensOnGpu::Way> Exchange::agree(const Greeting &greeting, int64_t rowBytes,
                                         const std::string &refusal, const TokenPlace &place,
                                         bool isCapturing, int32_t *serial) {
  Group &group = groupOf(place);
  const CallKey key = {greeting.combines, greeting.dtype,        greeting.hidden,
                       greeting.topk,     greeting.localExperts, greeting.numScales,
                       greeting.tokens,   greeting.capacity,     greeting.needsHost};
  if (isCapturing) {
    if (group.agreed.count(key))
      return Way::Gpu;
    return Status(kCollUnsupported, "an exchange of tokens through the host, or a new one");
  }
  if (!group.refusal.empty())
    return throughHost(group, group.refusal, place);
  TokenCalls calls(place);
  const std::vector<int64_t> noRows(static_cast<size_t>(calls.n()));
  Result<Greetings> all = calls.greet(greeting, noRows);
  if (!all)
    return all.status();
  if (const std::string why = refusalOf(*all, calls, refusal); !why.empty())
    return throughHost(group, why, place);
  if (serial)
    *serial = static_cast<int32_t>(all->of(0).serial);
  COLL_RETURN_IF_ERROR(makeRoom(group, needOf(*all, calls.n(), rowBytes), calls, place));
  if (!group.refusal.empty())
    return throughHost(group, group.refusal, place);
  group.agreed.insert(key);
  return Way::Gpu;
}

Status Exchange::makeRoom(Group &group, TokenNeed need, TokenCalls &calls,
                          const TokenPlace &place) {
  if (group.room) {
    const TokenNeed &size = group.room->size();
    if (need.fitsIn(size))
      return {};
    need = {std::max(need.halfBytes, size.halfBytes),
            std::max(need.scratchBytes, size.scratchBytes)};
  }
  Result<std::unique_ptr<TokenRoom>> room =
      TokenRoom::open(gpu_, kernels_, stream_, options_, need, calls);
  if (!room && room.status().code() != kCollUnsupported)
    return room.status();
  if (!room) {
    group.refusal = room.status().message();
    return {};
  }
  if (!group.room && place.communicator.position() == 0)
    log(LogLevel::Info, "tokens of " + describeGroup(place.communicator.ranks()) +
                            " are exchanged by the GPUs, with " +
                            std::to_string((*room)->config().numSms) + " blocks a kernel");
  rooms_.push_back(room.take());
  group.room = rooms_.back().get();
  return {};
}

Result<TokensOnGpu::Way> Exchange::agree(const TokenDispatch &d, int32_t &serial,
                                         const TokenPlace &place, bool isCapturing) {
  std::string refusal = refusalOf(static_cast<int64_t>(place.communicator.ranks().size()), d.shape,
                                  d.rowBytes(), {d.x, d.rows});
  if (refusal.empty() && narrow(d.localExperts) > kernels::MoeCounters::kMaxExperts)
    refusal =
        "a rank has more than " + std::to_string(kernels::MoeCounters::kMaxExperts) + " experts";
  if (refusal.empty() && d.numScales > d.hidden)
    refusal = "a row has more scales than elements";
  Greeting mine = greetingOf(d, serial);
  mine.needsHost = !refusal.empty();
  return agree(mine, d.rowBytes(), refusal, place, isCapturing, &serial);
}

Result<TokensOnGpu::Way> Exchange::agree(const TokenCombine &c, const TokenPlace &place,
                                         bool isCapturing) {
  const auto dtype = static_cast<CollDtype>(c.dtype);
  const int64_t rowBytes = c.hidden * dtypeSize(dtype);
  std::string refusal = refusalOf(static_cast<int64_t>(place.communicator.ranks().size()), c.shape,
                                  rowBytes, {c.src, c.dst});
  if (refusal.empty() && dtype != kCollBf16 && dtype != kCollF16 && dtype != kCollF32)
    refusal = std::string("GPUs do not add up rows of ") + dtypeName(dtype);
  Greeting mine = greetingOf(c, /*serial=*/0);
  mine.needsHost = !refusal.empty();
  return agree(mine, rowBytes, refusal, place, isCapturing, /*serial=*/nullptr);
}

kernels::TokenShape shapeOf(const RouteShape &shape, const Communicator &group) {
  return {narrow(static_cast<int64_t>(group.ranks().size())), narrow(group.position()),
          narrow(shape.tokens), narrow(shape.topk), narrow(shape.capacity)};
}

Result<MoeRouting> Exchange::routingOf(const TokenDispatch &d, int64_t ranks, char *widened) {
  MoeRouting routing;
  routing.topkIdx = static_cast<const int64_t *>(d.experts);
  routing.numTokens = d.shape.tokens;
  routing.numTopk = d.shape.topk;
  routing.numExperts = static_cast<int>(d.localExperts * ranks);
  if (d.indexDtype == kCollI64)
    return routing;
  kernels::WidenExperts widen;
  widen.from = static_cast<const int32_t *>(d.experts);
  widen.to = reinterpret_cast<int64_t *>(widened);
  widen.count = static_cast<uint64_t>(d.shape.tokens * d.shape.topk);
  routing.topkIdx = widen.to;
  COLL_RETURN_IF_ERROR(kernels_.widen(widen, stream_));
  return routing;
}

MoeTokens tokensOf(const TokenDispatch &d) {
  MoeTokens tokens;
  tokens.x = d.x;
  tokens.hidden = d.hidden;
  tokens.dtype = static_cast<CollDtype>(d.dtype);
  tokens.topkWeights = d.weights;
  tokens.scales = d.numScales > 0 ? d.scales : nullptr;
  tokens.numScales = d.numScales;
  tokens.scaleTokenStride = d.numScales;
  tokens.scaleStride = 1;
  return tokens;
}

// Between the exchange's results and the program's buffers; the rest is that of the call.
kernels::UnpackTokens unpackOf(const TokenDispatch &d, const MoeReceived &received) {
  kernels::UnpackTokens unpack;
  unpack.rowBytes = narrow(d.rowBytes());
  unpack.numScales = narrow(d.numScales);
  unpack.localExperts = narrow(d.localExperts);
  unpack.isWide = d.indexDtype == kCollI64;
  unpack.x = static_cast<const char *>(received.x);
  unpack.topkIdx = received.topkIdx;
  unpack.topkWeights = received.topkWeights;
  unpack.scales = received.scales;
  unpack.rankPrefix = received.handle.rankPrefix;
  unpack.isTokenInRank = received.handle.isTokenInRank;
  unpack.rows = static_cast<char *>(d.rows);
  unpack.rowExperts = d.rowExperts;
  unpack.rowWeights = d.rowWeights;
  unpack.rowScales = d.rowScales;
  unpack.counts = d.counts;
  unpack.route = d.route;
  return unpack;
}

Status Exchange::dispatch(const TokenDispatch &d, int32_t serial, const TokenPlace &place) {
  TokenRoom &room = *groupOf(place).room;
  const auto ranks = static_cast<int64_t>(place.communicator.ranks().size());
  const TokenScratch at(d.shape.tokens, d.shape.topk, d.localExperts * ranks, ranks);
  char *memory = room.scratch();
  Result<MoeRouting> routing = routingOf(d, ranks, memory + at.topkIdx);
  if (!routing)
    return routing.status();
  MoeLayout layout;
  layout.tokensPerRank = reinterpret_cast<int32_t *>(memory + at.tokensPerRank);
  layout.tokensPerExpert = reinterpret_cast<int32_t *>(memory + at.tokensPerExpert);
  layout.isTokenInRank = reinterpret_cast<uint8_t *>(memory + at.isTokenInRank);
  COLL_RETURN_IF_ERROR(room.buffer().dispatchLayout(*routing, layout, order()));
  MoeDispatchOptions options;
  options.config = room.config();
  options.worstCaseTokens = d.shape.capacity;
  options.counters = reinterpret_cast<kernels::MoeCounters *>(memory + at.counters);
  Result<MoeReceived> received =
      room.buffer().dispatch(tokensOf(d), *routing, layout, options, memory + at.handle, order());
  if (!received)
    return received.status();
  kernels::UnpackTokens unpack = unpackOf(d, *received);
  unpack.shape = shapeOf(d.shape, place.communicator);
  unpack.serial = serial;
  unpack.tokensPerExpert = options.counters->perExpert;
  return kernels_.unpack(unpack, stream_);
}

Status Exchange::combine(const TokenCombine &c, const TokenPlace &place) {
  TokenRoom &room = *groupOf(place).room;
  const auto ranks = static_cast<int64_t>(place.communicator.ranks().size());
  const TokenScratch at(c.shape.tokens, c.shape.topk, ranks, ranks);
  char *memory = room.scratch();
  kernels::TokenRoute route;
  route.shape = shapeOf(c.shape, place.communicator);
  route.route = c.route;
  route.isTokenInRank = reinterpret_cast<uint8_t *>(memory + at.isTokenInRank);
  route.tokensPerRank = reinterpret_cast<int32_t *>(memory + at.tokensPerRank);
  route.rankPrefix = reinterpret_cast<const int32_t *>(memory + at.handle);
  route.error = room.routeError();
  COLL_RETURN_IF_ERROR(kernels_.readRoute(route, stream_));
  MoeLayout layout;
  layout.tokensPerRank = layout.tokensPerExpert = route.tokensPerRank;
  layout.isTokenInRank = route.isTokenInRank;
  Result<MoeHandle> handle = room.buffer().places(layout, c.shape.tokens, c.shape.capacity,
                                                  room.config(), memory + at.handle, order());
  if (!handle)
    return handle.status();
  route.rankPrefix = handle->rankPrefix;
  COLL_RETURN_IF_ERROR(kernels_.checkRoute(route, stream_));
  MoeCombine combine;
  combine.x = c.src;
  combine.numRows = c.shape.capacity;
  combine.hidden = c.hidden;
  combine.dtype = static_cast<CollDtype>(c.dtype);
  combine.out = c.dst;
  return room.buffer().combine(combine, *handle, room.config(), order());
}

Status Exchange::check() {
  for (const auto &room : rooms_)
    COLL_RETURN_IF_ERROR(room->check().annotate("the exchange of tokens"));
  return {};
}

} // namespace

std::unique_ptr<TokensOnGpu> TokensOnGpu::create(gpu::Gpu &gpu, const TokenKernels &kernels,
                                                 dl::CudaStream stream,
                                                 const TokenOptions &options) {
  return std::make_unique<Exchange>(gpu, kernels, stream, options);
}

} // namespace coll::rt
