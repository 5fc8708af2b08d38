// The functions behind CollAbi: each builds a Call, checks it, and passes it to the rank's
// communicator.

#include "runtime/backend/call/check.h"
#include "runtime/base/dtype.h"
#include "runtime/step/abi/call_trace.h"
#include "runtime/step/abi/calls.h"
#include "runtime/step/abi/context.h"
#include "runtime/step/abi/gemm.h"
#include "runtime/step/abi/guarded.h"
#include "runtime/step/tokens/exchange.h"

#include <algorithm>

namespace coll::rt {

namespace {

std::string placeOf(const CollContext &ctx, const Call &call) {
  return describe(call) + " on rank " + std::to_string(ctx.rank);
}

// The communicator of a group index, or why there is none.
Result<Communicator *> communicatorOf(CollContext &ctx, int32_t group) {
  if (group < 0 || static_cast<size_t>(group) >= ctx.communicators.size())
    return Status::invalid("the program has no group " + std::to_string(group));
  Communicator *communicator = ctx.communicators[static_cast<size_t>(group)].get();
  if (!communicator)
    return Status::invalid("this rank is in none of the lists of group " + std::to_string(group));
  return communicator;
}

// The request enters the list before the call starts, so that a failing allocation cannot lose a
// started call.
Status startCall(CollContext &ctx, Communicator &communicator, const Call &call, uint64_t number,
                 const TraceGroup &group, CollRequest **req) {
  CollRequest &added = *ctx.requests.emplace_back(std::make_unique<CollRequest>());
  Result<Request *> started = communicator.start(call);
  if (!started) {
    ctx.requests.pop_back();
    return started.status();
  }
  added.request = *started;
  added.call = call;
  added.number = number;
  added.group = &group;
  *req = &added;
  return {};
}

// A blocking call, or the wait for a call, has returned. The call is complete or, with a stream,
// put on the stream; then the device reports its end. Returns whether it was put on a stream.
bool traceReturn(CollContext &ctx, const Call &call, const TraceGroup &group,
                 const Status &status) {
  const bool isPut = call.stream && ctx.device->tracesStream() && status.ok();
  if (isPut)
    ctx.device->endCall(call);
  else
    traceEnd(call, &group, !status.ok());
  return isPut;
}

int32_t issueChecked(CollContext &ctx, Call &call, const CallCodes &codes, int32_t op,
                     int32_t group, CollRequest **req) {
  traceComputeEnd(ctx);
  call.site = siteOf(ctx, op);
  if (Status status = setCodes(call, codes); !status.ok())
    return ctx.fail(status.annotate(placeOf(ctx, call)));
  Result<Communicator *> communicator = communicatorOf(ctx, group);
  if (!communicator)
    return ctx.fail(communicator.status().annotate(placeOf(ctx, call)));
  int64_t n = static_cast<int64_t>((*communicator)->ranks().size());
  int64_t position = (*communicator)->position();
  if (Status status = checkCall(call, n, position); !status.ok())
    return ctx.fail(status.annotate(placeOf(ctx, call)));

  int64_t bytes = payloadBytes(call, n, position);
  Result<std::unique_ptr<CallEnd>> end =
      ctx.device->prepare(call, extentsOf(call, n, position), req != nullptr);
  if (!end)
    return ctx.fail(end.status().annotate(placeOf(ctx, call)));
  ctx.bytesMoved += bytes;
  ++ctx.numCalls;
  const TraceGroup &members = ctx.traceGroups[static_cast<size_t>(group)];
  uint64_t number = ctx.recorder.begin(call, group, bytes);
  const bool isOnStream = call.stream && ctx.device->tracesStream();
  // A call that a graph captures is reported to the trace when the graph is replayed.
  const bool isCaptured = call.stream && ctx.device->isCapturing();
  traceBegin(call, isCaptured ? nullptr : &members, ctx.functionTrace, bytes);
  if (isOnStream)
    ctx.device->beginCall(call, members, bytes);
  Status status =
      req ? startCall(ctx, **communicator, call, number, members, req) : (*communicator)->run(call);
  if (req && status.ok()) {
    (*req)->end = end.take();
    traceIssued(call, &members);
    return kCollOk;
  }
  if (status.ok() && *end)
    status = (*end)->finish();
  if (traceReturn(ctx, call, members, status))
    traceIssued(call, &members);
  ctx.recorder.end(number, status.code());
  return status.ok() ? kCollOk : ctx.fail(std::move(status));
}

int32_t issue(CollContext *ctx, Call &call, const CallCodes &codes, int32_t op, int32_t group,
              CollRequest **req) {
  return guarded(ctx, [&] { return issueChecked(*ctx, call, codes, op, group, req); });
}

Call makeCall(OpKind kind, const void *src, void *dst, int64_t outer, int64_t count) {
  Call call;
  call.kind = kind;
  call.src = src;
  call.dst = dst;
  call.outer = outer;
  call.count = count;
  return call;
}

} // namespace

int32_t coll_abi_init(CollContext *ctx, int32_t op, int32_t group) {
  Call call;
  call.kind = OpKind::Init;
  return issue(ctx, call, {}, op, group, nullptr);
}

int32_t coll_abi_all_reduce(CollContext *ctx, int32_t op, const void *src, void *dst, int64_t count,
                            int32_t dtype, int32_t reduction, int32_t accumulation, int32_t order,
                            int32_t group, CollRequest **req) {
  Call call = makeCall(OpKind::AllReduce, src, dst, 1, count);
  return issue(ctx, call, {dtype, reduction, accumulation, order}, op, group, req);
}

int32_t coll_abi_reduce(CollContext *ctx, int32_t op, const void *src, void *dst, int64_t count,
                        int32_t dtype, int32_t reduction, int32_t accumulation, int32_t order,
                        int32_t root, int32_t group, CollRequest **req) {
  Call call = makeCall(OpKind::Reduce, src, dst, 1, count);
  call.root = root;
  return issue(ctx, call, {dtype, reduction, accumulation, order}, op, group, req);
}

int32_t coll_abi_broadcast(CollContext *ctx, int32_t op, const void *src, void *dst, int64_t count,
                           int32_t dtype, int32_t root, int32_t group, CollRequest **req) {
  Call call = makeCall(OpKind::Broadcast, src, dst, 1, count);
  call.root = root;
  return issue(ctx, call, {dtype}, op, group, req);
}

int32_t coll_abi_all_gather(CollContext *ctx, int32_t op, const void *src, void *dst, int64_t outer,
                            int64_t count, int32_t dtype, int32_t group, CollRequest **req) {
  Call call = makeCall(OpKind::AllGather, src, dst, outer, count);
  return issue(ctx, call, {dtype}, op, group, req);
}

int32_t coll_abi_gather(CollContext *ctx, int32_t op, const void *src, void *dst, int64_t outer,
                        int64_t count, int32_t dtype, int32_t root, int32_t group,
                        CollRequest **req) {
  Call call = makeCall(OpKind::Gather, src, dst, outer, count);
  call.root = root;
  return issue(ctx, call, {dtype}, op, group, req);
}

int32_t coll_abi_scatter(CollContext *ctx, int32_t op, const void *src, void *dst, int64_t outer,
                         int64_t count, int32_t dtype, int32_t root, int32_t group,
                         CollRequest **req) {
  Call call = makeCall(OpKind::Scatter, src, dst, outer, count);
  call.root = root;
  return issue(ctx, call, {dtype}, op, group, req);
}

int32_t coll_abi_reduce_scatter(CollContext *ctx, int32_t op, const void *src, void *dst,
                                int64_t outer, int64_t count, int32_t dtype, int32_t reduction,
                                int32_t accumulation, int32_t order, int32_t group,
                                CollRequest **req) {
  Call call = makeCall(OpKind::ReduceScatter, src, dst, outer, count);
  return issue(ctx, call, {dtype, reduction, accumulation, order}, op, group, req);
}

int32_t coll_abi_all_to_all(CollContext *ctx, int32_t op, const void *src, void *dst,
                            int64_t srcOuter, int64_t srcCount, int64_t dstOuter, int64_t dstCount,
                            int32_t dtype, int32_t group, CollRequest **req) {
  Call call = makeCall(OpKind::AllToAll, src, dst, srcOuter, srcCount);
  call.dstOuter = dstOuter;
  call.dstCount = dstCount;
  return issue(ctx, call, {dtype}, op, group, req);
}

int32_t coll_abi_permute(CollContext *ctx, int32_t op, const void *src, void *dst, int64_t count,
                         int32_t dtype, const int32_t *pairs, int32_t numPairs, int32_t group,
                         CollRequest **req) {
  Call call = makeCall(OpKind::Permute, src, dst, 1, count);
  call.pairs = pairs;
  call.numPairs = numPairs;
  return issue(ctx, call, {dtype}, op, group, req);
}

int32_t coll_abi_barrier(CollContext *ctx, int32_t op, int32_t group, CollRequest **req) {
  Call call;
  call.kind = OpKind::Barrier;
  return issue(ctx, call, {}, op, group, req);
}

// A peer that does not fit into an int32 is out of range, like -1.
static int32_t narrowPeer(int64_t peer) {
  return peer == static_cast<int32_t>(peer) ? static_cast<int32_t>(peer) : -1;
}

int32_t coll_abi_send(CollContext *ctx, int32_t op, const void *src, int64_t count, int32_t dtype,
                      int64_t peer, int64_t tag, int32_t group, CollRequest **req) {
  Call call = makeCall(OpKind::Send, src, nullptr, 1, count);
  call.peer = narrowPeer(peer);
  call.tag = tag;
  return issue(ctx, call, {dtype}, op, group, req);
}

int32_t coll_abi_recv(CollContext *ctx, int32_t op, void *dst, int64_t count, int32_t dtype,
                      int64_t peer, int64_t tag, int32_t group, CollRequest **req) {
  Call call = makeCall(OpKind::Recv, nullptr, dst, 1, count);
  call.peer = narrowPeer(peer);
  call.tag = tag;
  return issue(ctx, call, {dtype}, op, group, req);
}

static int32_t waitChecked(CollContext &ctx, int32_t op, CollRequest *req) {
  traceComputeEnd(ctx);
  auto it = std::find_if(ctx.requests.begin(), ctx.requests.end(),
                         [&](const auto &owned) { return owned.get() == req; });
  if (it == ctx.requests.end())
    return ctx.fail(Status::invalid("wait (op " + std::to_string(op) + " at " +
                                    siteOf(ctx, op).loc + ") on rank " + std::to_string(ctx.rank) +
                                    ": the request is not in flight"));
  std::unique_ptr<CollRequest> owned = std::move(*it);
  ctx.requests.erase(it);
  const CallSite &site = owned->call.site;
  uint64_t wait =
      site.trace ? traceBeginSpan(TraceLevel::Wait, ctx.rank, site.op, "wait", site.trace) : 0;
  Status status = ctx.endpoint->wait(owned->request);
  if (status.ok() && owned->end)
    status = owned->end->finish();
  traceEndSpan(TraceLevel::Wait, ctx.rank, site.op, wait, !status.ok());
  traceReturn(ctx, owned->call, *owned->group, status);
  ctx.recorder.end(owned->number, status.code());
  return status.ok() ? kCollOk : ctx.fail(std::move(status));
}

int32_t coll_abi_wait(CollContext *ctx, int32_t op, CollRequest *req) {
  return guarded(ctx, [&] { return waitChecked(*ctx, op, req); });
}

int32_t coll_abi_rank(CollContext *ctx, int64_t *rank) {
  return guarded(ctx, [&]() -> int32_t {
    if (!rank)
      return ctx->fail(Status::invalid("rank: the result pointer is null"));
    *rank = ctx->rank;
    return kCollOk;
  });
}

int32_t coll_abi_group_position(CollContext *ctx, int32_t group, int64_t *position, int64_t *size) {
  return guarded(ctx, [&]() -> int32_t {
    Result<Communicator *> communicator = communicatorOf(*ctx, group);
    if (!communicator)
      return ctx->fail(
          communicator.status().annotate("group_position on rank " + std::to_string(ctx->rank)));
    if (position)
      *position = (*communicator)->position();
    if (size)
      *size = static_cast<int64_t>((*communicator)->ranks().size());
    return kCollOk;
  });
}

int32_t coll_abi_gemm(CollContext *ctx, int32_t dtype, int32_t transA, int32_t transB, int64_t m,
                      int64_t n, int64_t k, const void *a, int64_t lda, int64_t strideA,
                      const void *b, int64_t ldb, int64_t strideB, void *c, int64_t ldc,
                      int64_t strideC, int64_t batch, int32_t accumulate) {
  return guarded(ctx, [&]() -> int32_t {
    if (!ctx->device->isHost())
      return ctx->fail({kCollUnsupported, "gemm works on host memory; a program on a GPU calls "
                                          "contract (rank " +
                                              std::to_string(ctx->rank) + ")"});
    Gemm gemm{dtype,          transA != 0, transB != 0, m,       n, k,   a,       lda,
              strideA,        b,           ldb,         strideB, c, ldc, strideC, batch,
              accumulate != 0};
    const bool isTold = ctx->computeTrace != 0; // compute() has begun a span
    uint64_t span = isTold ? 0
                           : traceBeginSpan(TraceLevel::Compute, ctx->rank, /*op=*/-1, "gemm",
                                            ctx->functionTrace);
    Status status = runGemm(gemm);
    traceEndSpan(TraceLevel::Compute, ctx->rank, /*op=*/-1, span, !status.ok());
    return status.ok() ? kCollOk
                       : ctx->fail(status.annotate("gemm on rank " + std::to_string(ctx->rank)));
  });
}

// Runs a token exchange as one operation, which `call` describes; the exchange makes several calls.
// `check(n)` validates its arguments in a group of n, `run(place)` runs it.
template <typename Check, typename Run>
static int32_t issueExchange(CollContext &ctx, Call call, int32_t op, int32_t group, Check check,
                             Run run) {
  traceComputeEnd(ctx);
  call.site = siteOf(ctx, op, call.site.within);
  Result<Communicator *> communicator = communicatorOf(ctx, group);
  if (!communicator)
    return ctx.fail(communicator.status().annotate(placeOf(ctx, call)));
  Status status = check(static_cast<int64_t>((*communicator)->ranks().size()));
  if (!status.ok())
    return ctx.fail(status.annotate(placeOf(ctx, call)));
  int64_t bytes = call.outer * call.count * dtypeSize(call.dtype);
  uint64_t number = ctx.recorder.begin(call, group, bytes);
  ctx.bytesMoved += bytes;
  ++ctx.numCalls;
  const TraceGroup &members = ctx.traceGroups[static_cast<size_t>(group)];
  if (!ctx.device->isCapturing())
    call.site.trace = traceBeginGroup(call.site, members, ctx.functionTrace, bytes);
  status = run(TokenPlace{*ctx.endpoint, **communicator, call.site, &members});
  traceEndSpan(TraceLevel::Group, ctx.rank, op, call.site.trace, !status.ok());
  ctx.recorder.end(number, status.code());
  return status.ok() ? kCollOk : ctx.fail(status.annotate(placeOf(ctx, call)));
}

static Call exchangeCall(const char *kind, const void *rows, int64_t numRows, int64_t hidden,
                         int32_t dtype) {
  Call call = makeCall(OpKind::AllToAll, rows, nullptr, numRows, hidden);
  call.dtype = isValidDtype(dtype) ? static_cast<CollDtype>(dtype) : kCollI8;
  call.site.within = kind;
  return call;
}

int32_t coll_abi_dispatch(CollContext *ctx, int32_t op, const void *x, const void *experts,
                          const float *weights, const float *scales, int64_t tokens, int64_t hidden,
                          int32_t topk, int64_t numScales, int32_t dtype, int32_t indexDtype,
                          int32_t localExperts, int64_t capacity, void *rows, void *rowExperts,
                          float *rowWeights, float *rowScales, int32_t *counts, void *route,
                          int32_t group) {
  TokenDispatch dispatch;
  dispatch.x = x;
  dispatch.experts = experts;
  dispatch.weights = weights;
  dispatch.scales = scales;
  dispatch.shape = {tokens, topk, capacity};
  dispatch.hidden = hidden;
  dispatch.numScales = numScales;
  dispatch.dtype = dtype;
  dispatch.indexDtype = indexDtype;
  dispatch.localExperts = localExperts;
  dispatch.rows = rows;
  dispatch.rowExperts = rowExperts;
  dispatch.rowWeights = rowWeights;
  dispatch.rowScales = rowScales;
  dispatch.counts = counts;
  dispatch.route = static_cast<int32_t *>(route);
  auto check = [&](int64_t n) { return checkDispatch(dispatch, n); };
  auto run = [&](const TokenPlace &place) {
    ctx->numDispatches = (ctx->numDispatches + 1) & INT32_MAX;
    return ctx->device->dispatch(dispatch, ctx->numDispatches, place);
  };
  return guarded(ctx, [&] {
    return issueExchange(*ctx, exchangeCall("dispatch", x, tokens, hidden, dtype), op, group, check,
                         run);
  });
}

int32_t coll_abi_combine(CollContext *ctx, int32_t op, const void *src, void *dst, int64_t tokens,
                         int64_t hidden, int32_t topk, int64_t capacity, int32_t dtype,
                         const void *route, int32_t group) {
  TokenCombine combine;
  combine.src = src;
  combine.dst = dst;
  combine.shape = {tokens, topk, capacity};
  combine.hidden = hidden;
  combine.dtype = dtype;
  combine.route = static_cast<const int32_t *>(route);
  auto check = [&](int64_t) { return checkCombine(combine); };
  auto run = [&](const TokenPlace &place) { return ctx->device->combine(combine, place); };
  return guarded(ctx, [&] {
    return issueExchange(*ctx, exchangeCall("combine", src, capacity, hidden, dtype), op, group,
                         check, run);
  });
}

int32_t coll_abi_compute(CollContext *ctx, int32_t op) {
  if (tracing() && ctx)
    guarded(ctx, [&]() -> int32_t {
      traceComputeBegin(*ctx, op);
      return kCollOk;
    });
  return kCollOk;
}

const CollAbi &abiTable() {
  static const CollAbi table = {
      kCollAbiVersion,
      /*reserved=*/0,
#define COLL_ABI_FUNCTION(name, parameters) coll_abi_##name,
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION
  };
  return table;
}

} // namespace coll::rt
