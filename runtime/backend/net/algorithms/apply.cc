#include "runtime/backend/net/algorithms/apply.h"

#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::network {

namespace {

void copyBytes(char *dst, const char *src, int64_t bytes) {
  if (dst != src && bytes > 0)
    std::memcpy(dst, src, static_cast<size_t>(bytes));
}

bool isTarget(const Call &call, int me, int &source) {
  for (int32_t p = 0; p < call.numPairs; ++p)
    if (call.pairs[2 * p + 1] == me) {
      source = call.pairs[2 * p];
      return true;
    }
  return false;
}

void applyReduce(const Call &call, const std::vector<const char *> &sources, int64_t at) {
  std::vector<const void *> from;
  for (const char *source : sources)
    from.push_back(source + at * dtypeSize(call.dtype));
  reduceBuffers(call.dtype, call.reduction, from.data(), static_cast<int>(from.size()), call.dst,
                call.outer * call.count);
}

// Row o of member me's block is the reduction of all rows (o, me).
void applyReduceScatter(const Call &call, int me, const std::vector<const char *> &sources) {
  int64_t n = static_cast<int64_t>(sources.size());
  Call row = call;
  row.outer = 1;
  for (int64_t o = 0; o < call.outer; ++o) {
    row.dst = static_cast<char *>(call.dst) + o * call.count * dtypeSize(call.dtype);
    applyReduce(row, sources, (o * n + me) * call.count);
  }
}

// Rows of `run` bytes at `stride` from one place to another whose rows differ.
void copyRows(const char *src, int64_t srcRun, int64_t srcStride, char *dst, int64_t dstRun,
              int64_t dstStride, int64_t bytes) {
  for (int64_t done = 0; done < bytes;) {
    int64_t s = done % srcRun, d = done % dstRun;
    int64_t length = std::min(srcRun - s, dstRun - d);
    copyBytes(dst + done / dstRun * dstStride + d, src + done / srcRun * srcStride + s, length);
    done += length;
  }
}

} // namespace

int64_t contribution(const Call &call, int64_t n, int position) {
  int64_t one = call.outer * call.count * dtypeSize(call.dtype);
  switch (call.kind) {
  case OpKind::AllReduce:
  case OpKind::Reduce:
  case OpKind::AllGather:
  case OpKind::Gather:
  case OpKind::Permute:
    return one;
  case OpKind::Broadcast:
    return position == call.root ? one : 0;
  case OpKind::Scatter:
    return position == call.root ? one * n : 0;
  case OpKind::ReduceScatter:
  case OpKind::AllToAll:
    return one * n;
  default:
    return 0;
  }
}

void applyCall(const Call &call, int me, const std::vector<const char *> &sources) {
  int64_t n = static_cast<int64_t>(sources.size());
  int64_t size = dtypeSize(call.dtype), run = call.count * size, one = call.outer * run;
  char *dst = static_cast<char *>(call.dst);
  if (one == 0)
    return;
  const char *atRoot = hasRoot(call.kind) ? sources[static_cast<size_t>(call.root)] : nullptr;
  if (Unreached what = unreached(call, me); what == Unreached::Copy)
    copyBytes(dst, static_cast<const char *>(call.src), one);
  else if (what == Unreached::Zeros)
    std::memset(dst, 0, static_cast<size_t>(destinationBytes(call, n)));
  switch (call.kind) {
  case OpKind::AllReduce:
    return applyReduce(call, sources, 0);
  case OpKind::Reduce:
    return me == call.root ? applyReduce(call, sources, 0) : void();
  case OpKind::Broadcast:
    return copyBytes(dst, atRoot, one);
  case OpKind::Gather:
    if (me != call.root)
      return;
    [[fallthrough]];
  case OpKind::AllGather:
    for (int64_t p = 0; p < n; ++p)
      copyRows(sources[static_cast<size_t>(p)], run, run, dst + p * run, run, n * run, one);
    return;
  case OpKind::Scatter:
    return copyRows(atRoot + me * run, run, n * run, dst, run, run, one);
  case OpKind::ReduceScatter:
    return applyReduceScatter(call, me, sources);
  case OpKind::AllToAll:
    for (int64_t p = 0; p < n; ++p)
      copyRows(sources[static_cast<size_t>(p)] + me * run, run, n * run,
               dst + p * call.dstCount * size, call.dstCount * size, n * call.dstCount * size, one);
    return;
  case OpKind::Permute:
    if (int source = 0; isTarget(call, me, source))
      copyBytes(dst, sources[static_cast<size_t>(source)], one);
    return;
  default:
    return;
  }
}

Unreached unreached(const Call &call, int me) {
  int source = 0;
  if (call.outer * call.count == 0)
    return Unreached::None;
  if (call.kind == OpKind::Reduce && me != call.root)
    return Unreached::Copy;
  if ((call.kind == OpKind::Gather && me != call.root) ||
      (call.kind == OpKind::Permute && !isTarget(call, me, source)))
    return Unreached::Zeros;
  return Unreached::None;
}

int64_t destinationBytes(const Call &call, int64_t n) {
  int64_t one = call.outer * call.count * dtypeSize(call.dtype);
  switch (call.kind) {
  case OpKind::AllGather:
  case OpKind::Gather:
  case OpKind::AllToAll:
    return one * n;
  case OpKind::Send:
  case OpKind::Init:
  case OpKind::Barrier:
    return 0;
  default:
    return one;
  }
}

} // namespace coll::rt::network
