#include "runtime/exchange/moe/moe_c.h"

#include "runtime/base/dtype.h"
#include "runtime/exchange/moe/buffer.h"
#ifdef COLL_HAS_NET
#include "runtime/net/tcp/tcp.h"
#endif
#ifdef COLL_HAVE_VERBS
#include "runtime/net/verbs/verbs.h"
#endif

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>

using namespace coll;
using namespace coll::rt;

struct CollMoe {
  std::unique_ptr<net::Transport> transport; // outlives the buffer
  std::unique_ptr<MoeBuffer> buffer;
  int32_t numRanks = 0;
};

struct CollMoeHandle {
  int64_t numRows;
  int32_t numChannels;
  MoeHandle handle;
  std::vector<int32_t> tokensPerExpert;
};

namespace {

// Limit for handles whose size is requested: no call accepts more tokens.
constexpr int64_t kMostTokens = INT32_MAX;

thread_local std::string lastError;

int32_t answer(const Status &status) {
  if (!status.ok())
    lastError = status.toString();
  return status.code();
}

// Functions of the C ABI throw no exception; only failed allocations throw here.
template <typename Function>
int32_t guarded(Function function) {
  try {
    return function();
  } catch (const std::exception &error) {
    return answer({kCollDevice, std::string("moe: ") + error.what()});
  }
}

Status null(const char *what) {
  return Status::invalid(std::string("moe: `") + what + "` is null");
}

// For views of a buffer's memory, which exists only as long as the buffer.
Status checkAlive(const CollMoe *buffer) {
  return buffer->buffer->isDestroyed() ? Status::invalid("moe: used after destroy")
                                       : Status::okay();
}

Status checkDtype(int32_t dtype) {
  return isValidDtype(static_cast<CollDtype>(dtype))
             ? Status::okay()
             : Status::invalid("moe: there is no type " + std::to_string(dtype));
}

//===-- structures --------------------------------------------------------------===//

MoeLowLatencyShape shapeOf(const CollMoeShape &from) {
  MoeLowLatencyShape shape;
  shape.maxTokens = from.maxTokens;
  shape.hidden = from.hidden;
  shape.numTopk = from.numTopk;
  shape.numExperts = from.numExperts;
  return shape;
}

// Fields that are zero keep the value in `options`.
template <typename To, typename From>
void set(To &to, From from) {
  if (from != 0)
    to = static_cast<To>(from);
}

MoeBufferOptions optionsOf(const CollMoeOptions &from, net::Transport *transport) {
  MoeBufferOptions options;
  options.rank = from.rank;
  options.numRanks = from.numRanks;
  options.nvlBytes = from.nvlBytes;
  options.netBytes = from.netBytes;
  options.lowLatency = from.lowLatency != 0;
  options.explicitlyDestroy = from.explicitlyDestroy != 0;
  options.lowLatencyShape = shapeOf(from.lowLatencyShape);
  options.device = from.device;
  options.transport = transport;
  set(options.nodeSize, from.nodeSize);
  set(options.timeoutUs, from.timeoutUs);
  set(options.netChunkBytes, from.netChunkBytes);
  return options;
}

MoeOrder orderOf(const CollMoeOrder &from) {
  return {static_cast<dl::CudaStream>(from.compute), static_cast<dl::CudaEvent>(from.previous),
          static_cast<dl::CudaEvent>(from.done)};
}

MoeRouting routingOf(const CollMoeRouting &from) {
  return {from.topkIdx, from.numTokens, from.numTopk, from.numExperts};
}

MoeLayout layoutOf(const CollMoeLayout &from) {
  return {from.tokensPerRank, from.tokensPerNetRank, from.tokensPerExpert, from.isTokenInRank};
}

MoeTokens tokensOf(const CollMoeTokens &from) {
  MoeTokens tokens;
  tokens.x = from.x;
  tokens.hidden = from.hidden;
  tokens.dtype = static_cast<CollDtype>(from.dtype);
  tokens.topkWeights = from.topkWeights;
  tokens.scales = from.scales;
  tokens.numScales = from.numScales;
  tokens.scaleTokenStride = from.scaleTokenStride;
  tokens.scaleStride = from.scaleStride;
  return tokens;
}

MoeConfig configOf(int32_t numSms) {
  MoeConfig config;
  set(config.numSms, numSms);
  return config;
}

MoeLowLatencyRows rowsOf(const CollMoeLowLatencyRows &from) {
  return {from.x, from.scales, from.counts, from.ranges, from.sources};
}

// `worst`: number of rows if the host does not know how many arrived.
int32_t give(Result<MoeReceived> made, int64_t worst, int32_t numChannels, CollMoeReceived &to) {
  if (!made)
    return answer(made.status());
  auto *handle =
      new (std::nothrow) CollMoeHandle{made->handle.numRecv >= 0 ? made->handle.numRecv : worst,
                                       numChannels, made->handle, made->tokensPerExpert};
  if (!handle)
    return answer({kCollDevice, "moe: no memory for a handle"});
  to.handle = handle;
  to.numReceived = handle->handle.numRecv;
  to.numRows = handle->numRows;
  to.numRelayed = made->numRelayed;
  to.numChannels = handle->numChannels;
  to.reserved = 0;
  to.x = made->x;
  to.scales = made->scales;
  to.topkIdx = made->topkIdx;
  to.topkWeights = made->topkWeights;
  to.sourceIdx = handle->handle.recvSourceIdx;
  to.rankPrefix = handle->handle.rankPrefix;
  to.channelPrefix = handle->handle.channelPrefix;
  to.sendHead = handle->handle.sendHead;
  to.tokensPerExpert = handle->tokensPerExpert.empty() ? nullptr : handle->tokensPerExpert.data();
  return kCollOk;
}

//===-- transports --------------------------------------------------------------===//

Result<std::unique_ptr<net::Transport>> transportOf(const CollMoeOptions &options) {
  if (!options.transport)
    return std::unique_ptr<net::Transport>();
  const std::string name = options.transport;
#ifdef COLL_HAS_NET
  std::optional<net::Secret> secret;
  if (options.secret) {
    Result<net::Secret> made = net::Secret::create(options.secret);
    if (!made)
      return made.status();
    secret = made.take();
  }
  if (name == "tcp")
    return net::createTcpTransport(net::TcpOptions::fromEnv(), secret);
#endif
#ifdef COLL_HAVE_VERBS
  if (name == "verbs")
    return net::createVerbsTransport(net::VerbsOptions::fromEnv(), secret);
#endif
  return Status(kCollUnsupported, "moe: this build has no transport \"" + name + "\"");
}

} // namespace

//===-- life --------------------------------------------------------------------===//

int32_t coll_moe_version() { return kCollMoeVersion; }

const char *coll_moe_last_error() { return lastError.c_str(); }

int32_t coll_moe_create(const CollMoeOptions *options, CollMoe **buffer) {
  return guarded([&]() -> int32_t {
    if (!options || !buffer)
      return answer(null("options` or `buffer"));
    auto transport = transportOf(*options);
    if (!transport)
      return answer(transport.status());
    auto made = std::make_unique<CollMoe>();
    made->transport = transport.take();
    auto created = MoeBuffer::create(optionsOf(*options, made->transport.get()));
    if (!created)
      return answer(created.status());
    made->buffer = created.take();
    made->numRanks = options->numRanks;
    *buffer = made.release();
    return kCollOk;
  });
}

void coll_moe_free(CollMoe *buffer) { delete buffer; }

int64_t coll_moe_card_bytes() { return sizeof(MoeCard); }

int32_t coll_moe_card(const CollMoe *buffer, void *card) {
  if (!buffer || !card)
    return answer(null("buffer` or `card"));
  if (Status alive = checkAlive(buffer); !alive.ok())
    return answer(alive);
  std::memcpy(card, &buffer->buffer->card(), sizeof(MoeCard));
  return kCollOk;
}

int32_t coll_moe_sync(CollMoe *buffer, const void *cards, int32_t numCards) {
  return guarded([&]() -> int32_t {
    if (!buffer || !cards || numCards < 1)
      return answer(null("buffer` or `cards"));
    if (numCards != buffer->numRanks)
      return answer(Status::invalid("moe: " + std::to_string(numCards) + " cards of " +
                                    std::to_string(buffer->numRanks) + " ranks"));
    std::vector<MoeCard> all(static_cast<size_t>(numCards));
    std::memcpy(static_cast<void *>(all.data()), cards, all.size() * sizeof(MoeCard));
    return answer(buffer->buffer->sync(all));
  });
}

int32_t coll_moe_destroy(CollMoe *buffer) {
  return guarded(
      [&]() -> int32_t { return answer(buffer ? buffer->buffer->destroy() : null("buffer")); });
}

int32_t coll_moe_check(CollMoe *buffer) {
  return guarded(
      [&]() -> int32_t { return answer(buffer ? buffer->buffer->check() : null("buffer")); });
}

void coll_moe_abort(CollMoe *buffer) {
  if (buffer)
    buffer->buffer->abort();
}

int32_t coll_moe_info(const CollMoe *buffer, CollMoeInfo *info) {
  if (!buffer || !info)
    return answer(null("buffer` or `info"));
  const MoeBuffer &from = *buffer->buffer;
  *info = {from.isAvailable(), from.isInternodeAvailable(), from.numNetRanks(),  from.netRank(),
           from.nvlRank(),     from.localDeviceId(),        from.netBytesSent(), from.commStream()};
  return kCollOk;
}

int32_t coll_moe_local_buffer(const CollMoe *buffer, int32_t dtype, int64_t offset, int32_t useNet,
                              void **data, int64_t *numElems) {
  return guarded([&]() -> int32_t {
    if (!buffer || !data || !numElems)
      return answer(null("buffer`, `data` or `numElems"));
    auto view = buffer->buffer->localBuffer(static_cast<CollDtype>(dtype), offset, useNet != 0);
    if (!view)
      return answer(view.status());
    *data = view->data;
    *numElems = view->numElems;
    return kCollOk;
  });
}

int32_t coll_moe_root_net_rank(const CollMoe *buffer, int32_t isGlobal) {
  return buffer ? buffer->buffer->rootNetRank(isGlobal != 0) : -1;
}

int32_t coll_moe_local_ipc_handle(const CollMoe *buffer, void *handle) {
  if (!buffer || !handle)
    return answer(null("buffer` or `handle"));
  if (Status alive = checkAlive(buffer); !alive.ok())
    return answer(alive);
  const dl::CudaIpcHandle &from = buffer->buffer->localIpcHandle();
  static_assert(sizeof from == kCollMoeIpcHandleBytes);
  std::memcpy(handle, &from, sizeof from);
  return kCollOk;
}

int32_t coll_moe_local_net_id(const CollMoe *buffer, void *id) {
  if (!buffer || !id)
    return answer(null("buffer` or `id"));
  if (Status alive = checkAlive(buffer); !alive.ok())
    return answer(alive);
  const net::Handle &from = buffer->buffer->localNetId();
  static_assert(sizeof from == kCollMoeNetIdBytes);
  if (buffer->buffer->numNetRanks() == 1)
    return answer({kCollUnsupported, "moe: the ranks of this buffer are on one node"});
  std::memcpy(id, &from, sizeof from);
  return kCollOk;
}

//===-- the normal mode ---------------------------------------------------------===//

int32_t coll_moe_dispatch_layout(CollMoe *buffer, const CollMoeRouting *routing,
                                 const CollMoeLayout *layout, const CollMoeOrder *order) {
  return guarded([&]() -> int32_t {
    if (!buffer || !routing || !layout || !order)
      return answer(null("buffer`, `routing`, `layout` or `order"));
    return answer(
        buffer->buffer->dispatchLayout(routingOf(*routing), layoutOf(*layout), orderOf(*order)));
  });
}

int64_t coll_moe_handle_bytes(int64_t numTokens, int32_t numRanks, int32_t numSms) {
  const MoeConfig config = configOf(numSms);
  if (numTokens < 0 || numTokens > kMostTokens || numRanks < 1 || numRanks > kMoeMaxRanks ||
      !checkMoeConfig(config).ok())
    return 0;
  return MoeBuffer::handleBytes(numTokens, numRanks, config);
}

int32_t coll_moe_dispatch(CollMoe *buffer, const CollMoeTokens *tokens,
                          const CollMoeRouting *routing, const CollMoeLayout *layout,
                          const CollMoeDispatchOptions *options, void *handleMemory,
                          const CollMoeOrder *order, CollMoeReceived *received) {
  return guarded([&]() -> int32_t {
    if (!buffer || !tokens || !routing || !layout || !options || !order || !received)
      return answer(null("buffer` or a structure of `dispatch"));
    if (Status known = checkDtype(tokens->dtype); !known.ok())
      return answer(known);
    MoeDispatchOptions chosen;
    chosen.config = configOf(options->numSms);
    set(chosen.expertAlignment, options->expertAlignment);
    chosen.worstCaseTokens = options->worstCaseTokens;
    auto made = buffer->buffer->dispatch(tokensOf(*tokens), routingOf(*routing), layoutOf(*layout),
                                         chosen, handleMemory, orderOf(*order));
    const int64_t worst =
        made.ok() && chosen.worstCaseTokens
            ? std::min(chosen.worstCaseTokens,
                       buffer->buffer->maxReceived(tokensOf(*tokens), routing->numTopk))
            : 0;
    return give(std::move(made), worst, chosen.config.numChannels(), *received);
  });
}

int32_t coll_moe_dispatch_again(CollMoe *buffer, const CollMoeTokens *tokens,
                                const CollMoeHandle *handle, int32_t numSms,
                                const CollMoeOrder *order, CollMoeReceived *received) {
  return guarded([&]() -> int32_t {
    if (!buffer || !tokens || !handle || !order || !received)
      return answer(null("buffer` or a structure of `dispatch_again"));
    if (Status known = checkDtype(tokens->dtype); !known.ok())
      return answer(known);
    auto made = buffer->buffer->dispatchAgain(tokensOf(*tokens), handle->handle, configOf(numSms),
                                              orderOf(*order));
    const int64_t worst =
        made.ok() ? std::min(handle->numRows, buffer->buffer->maxReceived(tokensOf(*tokens), 0))
                  : 0;
    return give(std::move(made), worst, handle->numChannels, *received);
  });
}

void *coll_moe_combine_input(const CollMoe *buffer) {
  return buffer && buffer->buffer->isAvailable() ? buffer->buffer->combineInput() : nullptr;
}

int32_t coll_moe_combine(CollMoe *buffer, const CollMoeCombine *combine,
                         const CollMoeHandle *handle, const CollMoeOrder *order) {
  return guarded([&]() -> int32_t {
    if (!buffer || !combine || !handle || !order)
      return answer(null("buffer` or a structure of `combine"));
    MoeCombine call;
    call.x = combine->x;
    call.numRows = combine->numRows;
    call.hidden = combine->hidden;
    call.topkWeights = combine->topkWeights;
    call.numTopk = combine->numTopk;
    call.bias[0] = combine->bias[0];
    call.bias[1] = combine->bias[1];
    call.out = combine->out;
    call.outWeights = combine->outWeights;
    return answer(
        buffer->buffer->combine(call, handle->handle, configOf(combine->numSms), orderOf(*order)));
  });
}

void coll_moe_free_handle(CollMoeHandle *handle) { delete handle; }

//===-- the low-latency mode ----------------------------------------------------===//

int64_t coll_moe_low_latency_bytes(const CollMoeShape *shape, int32_t numRanks) {
  return shape && numRanks > 0 ? MoeBuffer::lowLatencyBytes(shapeOf(*shape), numRanks) : 0;
}

int64_t coll_moe_low_latency_host_bytes(const CollMoeShape *shape, int32_t numRanks,
                                        int32_t nodeSize) {
  return shape && numRanks > 0 ? MoeBuffer::lowLatencyHostBytes(shapeOf(*shape), numRanks, nodeSize)
                               : 0;
}

int32_t coll_moe_low_latency_dispatch(CollMoe *buffer, const CollMoeLowLatencyDispatch *call,
                                      const CollMoeLowLatencyRows *rows, const CollMoeOrder *order,
                                      int64_t *hook) {
  return guarded([&]() -> int32_t {
    if (!buffer || !call || !rows || !order)
      return answer(null("buffer` or a structure of `low_latency_dispatch"));
    if (Status known = checkDtype(call->dtype); !known.ok())
      return answer(known);
    MoeHook later;
    const Status status = buffer->buffer->lowLatencyDispatch(
        {routingOf(call->routing), call->x, static_cast<CollDtype>(call->dtype), call->expertTokens,
         call->numSms},
        rowsOf(*rows), orderOf(*order), hook ? &later : nullptr);
    if (hook)
      *hook = later.call;
    return answer(status);
  });
}

int32_t coll_moe_low_latency_combine(CollMoe *buffer, const CollMoeLowLatencyCombine *call,
                                     const CollMoeLowLatencyRows *rows, const CollMoeOrder *order,
                                     int64_t *hook) {
  return guarded([&]() -> int32_t {
    if (!buffer || !call || !rows || !order)
      return answer(null("buffer` or a structure of `low_latency_combine"));
    MoeHook later;
    const Status status =
        buffer->buffer->lowLatencyCombine({routingOf(call->routing), call->x, call->topkWeights,
                                           call->log != 0, call->out, call->numSms},
                                          rowsOf(*rows), orderOf(*order), hook ? &later : nullptr);
    if (hook)
      *hook = later.call;
    return answer(status);
  });
}

int32_t coll_moe_low_latency_receive(CollMoe *buffer, int64_t hook, const CollMoeOrder *order) {
  return guarded([&]() -> int32_t {
    if (!buffer || !order)
      return answer(null("buffer` or `order"));
    return answer(buffer->buffer->lowLatencyReceive({hook}, orderOf(*order)));
  });
}

int32_t coll_moe_low_latency_clean(CollMoe *buffer, const CollMoeShape *shape,
                                   const CollMoeOrder *order) {
  return guarded([&]() -> int32_t {
    if (!buffer || !shape || !order)
      return answer(null("buffer`, `shape` or `order"));
    return answer(buffer->buffer->lowLatencyClean(shapeOf(*shape), orderOf(*order)));
  });
}

int32_t coll_moe_low_latency_combine_input(const CollMoe *buffer, void **data, int64_t *numElems) {
  return guarded([&]() -> int32_t {
    if (!buffer || !data || !numElems)
      return answer(null("buffer`, `data` or `numElems"));
    auto view = buffer->buffer->lowLatencyCombineInput();
    if (!view)
      return answer(view.status());
    *data = view->data;
    *numElems = view->numElems;
    return kCollOk;
  });
}
