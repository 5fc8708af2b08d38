#include "runtime/step/abi/calls.h"

#include "runtime/base/dtype.h"
#include "runtime/step/abi/call_trace.h"
#include "runtime/step/abi/guarded.h"
#include "runtime/step/device/attention.h"
#include "runtime/step/device/contraction.h"
#include "runtime/step/device/convolution.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace coll::rt {

namespace {

// Runs one call as a span of the trace, unless a graph captures it: the trace then has the replays.
// A failure names the call, its place in the program, and the rank.
template <typename Run>
int32_t onDevice(CollContext *ctx, int32_t op, const char *kind, Run run) {
  return guarded(ctx, [&]() -> int32_t {
    traceComputeEnd(*ctx);
    CallSite site = siteOf(*ctx, op, kind);
    const TraceLevel level = ctx->device->isHost() ? TraceLevel::Compute : TraceLevel::Launch;
    if (!ctx->device->isCapturing())
      site.trace = traceBeginSpan(level, ctx->rank, op, kind, ctx->functionTrace);
    Status status = run(*ctx->device, site);
    traceEndSpan(level, ctx->rank, op, site.trace, !status.ok());
    return status.ok() ? kCollOk
                       : ctx->fail(status.annotate(describe(site) + " on rank " +
                                                   std::to_string(ctx->rank)));
  });
}

Status checkMemory(const void *dst, const void *src, int64_t bytes) {
  if (bytes < 0)
    return Status::invalid(std::to_string(bytes) + " bytes");
  if (bytes > 0 && (!dst || !src))
    return Status::invalid("a buffer is null");
  return {};
}

Status checkFill(const void *dst, const void *pattern, int32_t patternBytes, int64_t count) {
  constexpr int32_t kMost = 16;
  if (patternBytes <= 0 || patternBytes > kMost || (patternBytes & (patternBytes - 1)) != 0)
    return Status::invalid("a pattern has 1, 2, 4, 8 or 16 bytes, not " +
                           std::to_string(patternBytes));
  if (count > std::numeric_limits<int64_t>::max() / patternBytes)
    return Status::invalid(std::to_string(count) + " patterns are too many");
  return checkMemory(dst, pattern, count);
}

int32_t attend(CollContext *ctx, int32_t op, const CollAttention *call,
               const kernels::AttentionBuffers &buffers, bool isBackward) {
  const char *kind = isBackward ? "attention_backward" : "attention";
  return onDevice(ctx, op, kind, [&](Device &device, const CallSite &site) -> Status {
    if (!call)
      return Status::invalid("the attention is null");
    Result<kernels::Attention> attention = attentionOf(*call);
    if (!attention)
      return attention.status();
    Status status = checkAttention(*attention, buffers, isBackward);
    if (status.ok() && !isEmpty(*attention))
      status = device.attend(site, *attention, buffers, isBackward);
    return status.ok() ? status : status.annotate(describe(*attention));
  });
}

// Sums of columns without rows are zeros; a contraction without elements has no other result.
Status finishEmpty(Device &device, const CallSite &site, const CollContraction &c) {
  if (c.epilogue != kCollEpilogueGeluGradient || !c.kept || c.n == 0)
    return {};
  const char zero = 0;
  return device.fill(site, c.kept, &zero, 1, c.n * dtypeSize(static_cast<CollDtype>(c.dtype_out)));
}

} // namespace

int32_t coll_abi_launch(CollContext *ctx, int32_t op, int32_t kernel, const void *const *args,
                        int32_t numArgs) {
  return onDevice(ctx, op, "launch", [&](Device &device, const CallSite &site) -> Status {
    if (numArgs < 0 || (numArgs > 0 && !args))
      return Status::invalid("the kernel's arguments are missing");
    return device.launch(site, kernel, args, numArgs);
  });
}

int32_t coll_abi_copy(CollContext *ctx, int32_t op, void *dst, const void *src, int64_t bytes) {
  return onDevice(ctx, op, "copy", [&](Device &device, const CallSite &site) {
    Status status = checkMemory(dst, src, bytes);
    return status.ok() ? device.copy(site, dst, src, bytes) : status;
  });
}

int32_t coll_abi_fill(CollContext *ctx, int32_t op, void *dst, const void *pattern,
                      int32_t patternBytes, int64_t count) {
  return onDevice(ctx, op, "fill", [&](Device &device, const CallSite &site) {
    Status status = checkFill(dst, pattern, patternBytes, count);
    return status.ok() ? device.fill(site, dst, pattern, patternBytes, count) : status;
  });
}

int32_t coll_abi_fetch(CollContext *ctx, int32_t op, void *hostDst, const void *src,
                       int64_t bytes) {
  return onDevice(ctx, op, "fetch", [&](Device &device, const CallSite &site) {
    Status status = checkMemory(hostDst, src, bytes);
    return status.ok() ? device.fetch(site, hostDst, src, bytes) : status;
  });
}

int32_t coll_abi_store(CollContext *ctx, int32_t op, void *dst, const void *hostSrc,
                       int64_t bytes) {
  return onDevice(ctx, op, "store", [&](Device &device, const CallSite &site) {
    Status status = checkMemory(dst, hostSrc, bytes);
    return status.ok() ? device.store(site, dst, hostSrc, bytes) : status;
  });
}

int32_t coll_abi_constants(CollContext *ctx, void **base) {
  return onDevice(ctx, /*op=*/-1, "constants", [&](Device &device, const CallSite &) -> Status {
    if (!base)
      return Status::invalid("the result pointer is null");
    Result<void *> constants = device.constants();
    if (!constants)
      return constants.status();
    *base = *constants;
    return {};
  });
}

int32_t coll_abi_contract(CollContext *ctx, int32_t op, const CollContraction *contraction,
                          const void *a, const void *b, void *out) {
  return onDevice(ctx, op, "contract", [&](Device &device, const CallSite &site) -> Status {
    if (!contraction)
      return Status::invalid("the contraction is null");
    Status status = checkContraction(*contraction, a, b, out);
    if (status.ok())
      status = isEmpty(*contraction) ? finishEmpty(device, site, *contraction)
                                     : device.contract(site, *contraction, a, b, out);
    return status.ok() ? status : status.annotate(describe(*contraction));
  });
}

int32_t coll_abi_attention(CollContext *ctx, int32_t op, const CollAttention *attention,
                           const void *q, const void *k, const void *v, void *o, float *lse) {
  kernels::AttentionBuffers buffers;
  buffers.q = q;
  buffers.k = k;
  buffers.v = v;
  buffers.o = o;
  buffers.lse = lse;
  return attend(ctx, op, attention, buffers, /*isBackward=*/false);
}

int32_t coll_abi_attention_backward(CollContext *ctx, int32_t op, const CollAttention *attention,
                                    const void *q, const void *k, const void *v, const void *o,
                                    const float *lse, const void *dO, void *dQ, void *dK, void *dV,
                                    void *scratch) {
  kernels::AttentionBuffers buffers;
  buffers.q = q;
  buffers.k = k;
  buffers.v = v;
  buffers.o = const_cast<void *>(o); // o and lse are only read
  buffers.lse = const_cast<float *>(lse);
  buffers.dO = dO;
  buffers.dQ = dQ;
  buffers.dK = dK;
  buffers.dV = dV;
  buffers.scratch = scratch;
  return attend(ctx, op, attention, buffers, /*isBackward=*/true);
}

int32_t coll_abi_reaches(CollContext *ctx, int32_t group, int32_t *answer) {
  return guarded(ctx, [&]() -> int32_t {
    if (!answer)
      return ctx->fail(Status::invalid("reaches: the pointer to the answer is null"));
    *answer = group >= 0 && group == ctx->reached;
    return kCollOk;
  });
}

int32_t coll_abi_members(CollContext *ctx, int32_t op, int32_t group, const void *data,
                         int64_t bytes, void **addresses) {
  return guarded(ctx, [&]() -> int32_t {
    std::vector<void *> found;
    if (group >= 0 && group == ctx->reached && bytes >= 0)
      found = ctx->communicators[static_cast<size_t>(group)]->addressesOf(data, bytes);
    if (found.empty() || !addresses)
      return ctx->fail(Status::invalid(describe(siteOf(*ctx, op, "kernel")) + " on rank " +
                                       std::to_string(ctx->rank) +
                                       ": the members' memory is not reached at this place"));
    std::copy(found.begin(), found.end(), addresses);
    return kCollOk;
  });
}

int32_t coll_abi_convolve(CollContext *ctx, int32_t op, const CollConvolution *convolution,
                          const void *a, const void *b, void *out) {
  return onDevice(ctx, op, "convolve", [&](Device &device, const CallSite &site) -> Status {
    if (!convolution)
      return Status::invalid("the convolution is null");
    Result<kernels::Convolution> read = convolutionOf(*convolution);
    if (!read)
      return read.status();
    const kernels::ConvolutionBuffers buffers{a, b, out};
    Status status = checkConvolution(*read, buffers);
    if (status.ok() && !isEmpty(*read))
      status = device.convolve(site, *read, buffers);
    return status.ok() ? status : status.annotate(describe(*read));
  });
}

} // namespace coll::rt
