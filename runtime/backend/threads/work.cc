#include "runtime/backend/threads/work.h"

#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::threads {

namespace {

// Memory traffic of a chunk: enough to pay for handing it to another thread.
constexpr int64_t kChunkBytes = 256 * 1024;
// Chunks begin at whole cache lines of aligned buffers, whatever the type.
constexpr int64_t kChunkAlign = 64;
constexpr int64_t kScratchBytes = 8 * 1024;

// The operation that chunks are run for, with byte addresses.
struct View {
  explicit View(const std::vector<Call> &calls)
      : calls(calls), first(calls[0]), n(static_cast<int64_t>(calls.size())),
        size(dtypeSize(calls[0].dtype)) {}

  const char *src(int64_t member, int64_t elem) const {
    return static_cast<const char *>(calls[static_cast<size_t>(member)].src) + elem * size;
  }
  char *dst(int64_t member, int64_t elem) const {
    return static_cast<char *>(calls[static_cast<size_t>(member)].dst) + elem * size;
  }
  bool hasDst(int64_t member) const { return calls[static_cast<size_t>(member)].dst; }
  void copy(char *to, const char *from, int64_t elems) const {
    if (to != from)
      std::memcpy(to, from, static_cast<size_t>(elems * size));
  }
  void zero(char *to, int64_t elems) const {
    std::memset(to, 0, static_cast<size_t>(elems * size));
  }
  // All members' elements from `elem` on, combined.
  void combine(int64_t elem, void *to, int64_t elems) const {
    thread_local std::vector<const void *> sources;
    sources.resize(calls.size());
    for (int64_t i = 0; i < n; ++i)
      sources[static_cast<size_t>(i)] = src(i, elem);
    reduceBuffers(first.dtype, first.reduction, sources.data(), static_cast<int>(n), to, elems);
  }

  const std::vector<Call> &calls;
  const Call &first;
  int64_t n;
  int64_t size;
};

// Cuts [begin, end) at multiples of `length`: visit(piece number, offset in it, elems).
template <typename Visit>
void forEachPiece(int64_t begin, int64_t end, int64_t length, Visit visit) {
  while (begin < end) {
    int64_t offset = begin % length;
    int64_t elems = std::min(length - offset, end - begin);
    visit(begin / length, offset, elems);
    begin += elems;
  }
}

void runAllReduce(const View &v, int64_t begin, int64_t end) {
  // Combined aside, because a destination may be a source.
  alignas(64) char scratch[kScratchBytes];
  forEachPiece(begin, end, kScratchBytes / v.size, [&](int64_t piece, int64_t offset, int64_t n) {
    int64_t elem = piece * (kScratchBytes / v.size) + offset;
    v.combine(elem, scratch, n);
    for (int64_t j = 0; j < v.n; ++j)
      v.copy(v.dst(j, elem), scratch, n);
  });
}

void runReduce(const View &v, int64_t begin, int64_t end) {
  for (int64_t j = 0; j < v.n; ++j)
    if (j != v.first.root && v.hasDst(j))
      v.copy(v.dst(j, begin), v.src(j, begin), end - begin);
  // Last: the root's destination may be its source, no one else's.
  v.combine(begin, v.dst(v.first.root, begin), end - begin);
}

void runBroadcast(const View &v, int64_t begin, int64_t end) {
  for (int64_t j = 0; j < v.n; ++j)
    v.copy(v.dst(j, begin), v.src(v.first.root, begin), end - begin);
}

// Units: the elements of the gathered tensor.
void runGather(const View &v, int64_t begin, int64_t end) {
  bool all = v.first.kind == OpKind::AllGather;
  int64_t count = v.first.count;
  forEachPiece(begin, end, count, [&](int64_t row, int64_t offset, int64_t elems) {
    const char *from = v.src(row % v.n, row / v.n * count + offset);
    for (int64_t j = 0; j < v.n; ++j) {
      char *to = v.dst(j, row * count + offset);
      if (all || j == v.first.root)
        v.copy(to, from, elems);
      else if (v.hasDst(j))
        v.zero(to, elems);
    }
  });
}

// Units: the elements of the root's source.
void runScatter(const View &v, int64_t begin, int64_t end) {
  int64_t count = v.first.count;
  forEachPiece(begin, end, count, [&](int64_t row, int64_t offset, int64_t elems) {
    v.copy(v.dst(row % v.n, row / v.n * count + offset), v.src(v.first.root, row * count + offset),
           elems);
  });
}

// Units: the elements of one source.
void runReduceScatter(const View &v, int64_t begin, int64_t end) {
  int64_t count = v.first.count;
  forEachPiece(begin, end, count, [&](int64_t row, int64_t offset, int64_t elems) {
    v.combine(row * count + offset, v.dst(row % v.n, row / v.n * count + offset), elems);
  });
}

// Units: all blocks, by target, then source, then element of the block.
void runAllToAll(const View &v, int64_t begin, int64_t end) {
  const Call &c = v.first;
  forEachPiece(begin, end, c.outer * c.count, [&](int64_t block, int64_t offset, int64_t elems) {
    int64_t target = block / v.n, source = block % v.n;
    forEachPiece(offset, offset + elems, c.count, [&](int64_t so, int64_t sc, int64_t run) {
      int64_t elem = so * c.count + sc;
      int64_t from = (so * v.n + target) * c.count + sc;
      forEachPiece(elem, elem + run, c.dstCount, [&](int64_t dO, int64_t dc, int64_t len) {
        v.copy(v.dst(target, (dO * v.n + source) * c.dstCount + dc), v.src(source, from), len);
        from += len;
      });
    });
  });
}

// Units: the elements of all destinations, by rank.
void runPermute(const View &v, int64_t begin, int64_t end) {
  forEachPiece(begin, end, v.first.count, [&](int64_t target, int64_t offset, int64_t elems) {
    for (int32_t p = 0; p < v.first.numPairs; ++p)
      if (v.first.pairs[2 * p + 1] == target)
        return v.copy(v.dst(target, offset), v.src(v.first.pairs[2 * p], offset), elems);
    v.zero(v.dst(target, offset), elems);
  });
}

int64_t countUnits(const Call &call, int64_t n) {
  switch (call.kind) {
  case OpKind::AllReduce:
  case OpKind::Reduce:
  case OpKind::Broadcast:
    return call.count;
  case OpKind::AllGather:
  case OpKind::Gather:
  case OpKind::Scatter:
  case OpKind::ReduceScatter:
    return call.outer * call.count * n;
  case OpKind::AllToAll:
    return call.outer * call.count * n * n;
  case OpKind::Permute:
    return call.count * n;
  default:
    return 0;
  }
}

// Elements read and written for one unit.
int64_t trafficPerUnit(OpKind kind, int64_t n) {
  switch (kind) {
  case OpKind::AllReduce:
    return 2 * n;
  case OpKind::Reduce:
  case OpKind::Broadcast:
  case OpKind::AllGather:
  case OpKind::Gather:
  case OpKind::ReduceScatter:
    return n + 1;
  default:
    return 2;
  }
}

// Whether a destination's element lies elsewhere than the source's elements that go into it.
bool movesElements(OpKind kind) {
  switch (kind) {
  case OpKind::AllGather:
  case OpKind::Gather:
  case OpKind::Scatter:
  case OpKind::ReduceScatter:
  case OpKind::AllToAll:
  case OpKind::Permute:
    return true;
  default:
    return false;
  }
}

int64_t sourceElems(const Call &call, int64_t n) {
  switch (call.kind) {
  case OpKind::Scatter:
  case OpKind::ReduceScatter:
  case OpKind::AllToAll:
    return call.outer * call.count * n;
  default:
    return call.outer * call.count;
  }
}

} // namespace

void Work::prepare() {
  int64_t n = static_cast<int64_t>(calls.size());
  const Call &first = calls[0];
  units = countUnits(first, n);
  int64_t traffic = trafficPerUnit(first.kind, n) * dtypeSize(first.dtype);
  unitsPerChunk = std::max(kChunkBytes / traffic / kChunkAlign, int64_t(1)) * kChunkAlign;
  numChunks = units / unitsPerChunk + (units % unitsPerChunk != 0);
  if (units > 0 && movesElements(first.kind))
    stageInPlaceSources();
}

void Work::stageInPlaceSources() {
  int64_t n = static_cast<int64_t>(calls.size());
  for (Call &call : calls) {
    if (call.src != call.dst || !call.src)
      continue;
    if (call.kind == OpKind::Scatter && &call != &calls[static_cast<size_t>(call.root)])
      continue; // its source is not read
    const char *src = static_cast<const char *>(call.src);
    staged_.emplace_back(src, src + sourceElems(call, n) * dtypeSize(call.dtype));
    call.src = staged_.back().data();
  }
}

void Work::run(int64_t chunk) const {
  View view(calls);
  int64_t begin = chunk * unitsPerChunk;
  int64_t end = std::min(begin + unitsPerChunk, units);
  switch (view.first.kind) {
  case OpKind::AllReduce:
    return runAllReduce(view, begin, end);
  case OpKind::Reduce:
    return runReduce(view, begin, end);
  case OpKind::Broadcast:
    return runBroadcast(view, begin, end);
  case OpKind::AllGather:
  case OpKind::Gather:
    return runGather(view, begin, end);
  case OpKind::Scatter:
    return runScatter(view, begin, end);
  case OpKind::ReduceScatter:
    return runReduceScatter(view, begin, end);
  case OpKind::AllToAll:
    return runAllToAll(view, begin, end);
  case OpKind::Permute:
    return runPermute(view, begin, end);
  default:
    return;
  }
}

} // namespace coll::rt::threads
