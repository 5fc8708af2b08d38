#include "runtime/backend/threads/work.h"

#include "runtime/base/dtype.h"
#include "runtime/base/machine.h"
#include "runtime/base/reduce.h"
#include "runtime/base/stream_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace coll::rt::threads {

namespace {

// Memory traffic of a chunk: enough to be worth giving to another thread, and to wait for if each
// worker has only one chunk.
constexpr int64_t kChunkBytes = 256 * 1024;
constexpr int64_t kMinChunkBytes = 16 * 1024;
// Chunks begin at complete cache lines of aligned buffers, whatever the type.
constexpr int64_t kChunkAlign = 64;
constexpr int64_t kScratchBytes = 8 * 1024;

// memcpy without a call for up to 32 bytes: an operation along an inner dimension copies many short
// rows.
inline void copyBytes(char *to, const char *from, size_t bytes) {
  auto copyEnds = [&](auto begin) {
    decltype(begin) end;
    std::memcpy(&begin, from, sizeof(begin));
    std::memcpy(&end, from + bytes - sizeof(end), sizeof(end));
    std::memcpy(to, &begin, sizeof(begin));
    std::memcpy(to + bytes - sizeof(end), &end, sizeof(end));
  };
  struct Half {
    uint64_t words[2];
  };
  if (bytes > 2 * sizeof(Half) || bytes < sizeof(uint32_t))
    std::memcpy(to, from, bytes);
  else if (bytes >= sizeof(Half))
    copyEnds(Half());
  else if (bytes >= sizeof(uint64_t))
    copyEnds(uint64_t());
  else
    copyEnds(uint32_t());
}

// The operation whose chunks are run, with byte addresses.
struct View {
  View(const Call &call, const Buffers *members, int64_t n, bool streams)
      : call(call), members(members), n(n), size(dtypeSize(call.dtype)), streams(streams) {}

  const char *src(int64_t member, int64_t elem) const {
    return static_cast<const char *>(members[member].src) + elem * size;
  }
  char *dst(int64_t member, int64_t elem) const {
    return static_cast<char *>(members[member].dst) + elem * size;
  }
  bool hasDst(int64_t member) const { return members[member].dst; }
  bool inPlace(int64_t member) const { return members[member].dst == members[member].src; }
  void copy(char *to, const char *from, int64_t elems, bool stream) const {
    if (to == from)
      return;
    if (stream)
      streamCopy(to, from, elems * size);
    else
      copyBytes(to, from, static_cast<size_t>(elems * size));
  }
  void copy(char *to, const char *from, int64_t elems) const { copy(to, from, elems, streams); }
  void zero(char *to, int64_t elems) const {
    std::memset(to, 0, static_cast<size_t>(elems * size));
  }
  // Combines all members' elements from `elem` on.
  void combine(int64_t elem, void *to, int64_t elems) const {
    constexpr int64_t kFew = 8;
    const void *few[kFew];
    thread_local std::vector<const void *> many;
    if (n > kFew)
      many.resize(static_cast<size_t>(n));
    const void **sources = n > kFew ? many.data() : few;
    for (int64_t i = 0; i < n; ++i)
      sources[i] = src(i, elem);
    reduceBuffers(call.dtype, call.reduction, sources, static_cast<int>(n), to, elems);
  }

  const Call &call;
  const Buffers *members;
  int64_t n;
  int64_t size;
  bool streams;
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

// Cuts [begin, end) at multiples of `length`. Each n pieces are a block, with one piece of each
// member: visit(block, member, offset in the piece, elems). Only the first piece is found by
// divisions, as pieces may be short.
template <typename Visit>
void forEachMember(int64_t begin, int64_t end, int64_t length, int64_t n, Visit visit) {
  int64_t offset = begin % length, block = begin / length / n, member = begin / length % n;
  while (begin < end) {
    int64_t elems = std::min(length - offset, end - begin);
    visit(block, member, offset, elems);
    begin += elems;
    offset = 0;
    if (++member == n) {
      member = 0;
      ++block;
    }
  }
}

void runAllReduce(const View &v, int64_t begin, int64_t end) {
  // Works in pieces that stay in the L1 cache between combining and copying. Data to be streamed is
  // combined in a scratch buffer; otherwise the first destination holds it, which may be a source,
  // but only of elements that have already been read.
  alignas(64) char scratch[kScratchBytes];
  int64_t first = 0;
  while (!v.hasDst(first))
    ++first;
  bool aside = v.streams && !v.inPlace(first);
  int64_t length = kScratchBytes / v.size;
  for (int64_t elem = begin; elem < end; elem += length) {
    int64_t n = std::min(length, end - elem);
    char *sum = aside ? scratch : v.dst(first, elem);
    v.combine(elem, sum, n);
    for (int64_t j = first; j < v.n; ++j)
      if (v.hasDst(j)) // in place: the line is in the cache
        v.copy(v.dst(j, elem), sum, n, v.streams && !v.inPlace(j));
  }
}

void runReduce(const View &v, int64_t begin, int64_t end) {
  for (int64_t j = 0; j < v.n; ++j)
    if (j != v.call.root && v.hasDst(j))
      v.copy(v.dst(j, begin), v.src(j, begin), end - begin);
  // Last, because the root's destination may be its source.
  if (v.hasDst(v.call.root))
    v.combine(begin, v.dst(v.call.root, begin), end - begin);
}

void runBroadcast(const View &v, int64_t begin, int64_t end) {
  for (int64_t j = 0; j < v.n; ++j)
    if (v.hasDst(j))
      v.copy(v.dst(j, begin), v.src(v.call.root, begin), end - begin);
}

// Units: the elements of the gathered tensor.
void runGather(const View &v, int64_t begin, int64_t end) {
  bool all = v.call.kind == OpKind::AllGather;
  int64_t count = v.call.count;
  forEachMember(begin, end, count, v.n,
                [&](int64_t block, int64_t member, int64_t offset, int64_t elems) {
                  const char *from = v.src(member, block * count + offset);
                  for (int64_t j = 0; j < v.n; ++j) {
                    if (!v.hasDst(j))
                      continue;
                    char *to = v.dst(j, (block * v.n + member) * count + offset);
                    if (all || j == v.call.root)
                      v.copy(to, from, elems);
                    else
                      v.zero(to, elems);
                  }
                });
}

// Units: the elements of the root's source.
void runScatter(const View &v, int64_t begin, int64_t end) {
  int64_t count = v.call.count;
  forEachMember(begin, end, count, v.n,
                [&](int64_t block, int64_t member, int64_t offset, int64_t elems) {
                  if (v.hasDst(member))
                    v.copy(v.dst(member, block * count + offset),
                           v.src(v.call.root, (block * v.n + member) * count + offset), elems);
                });
}

// Units: the elements of one source.
void runReduceScatter(const View &v, int64_t begin, int64_t end) {
  int64_t count = v.call.count;
  forEachMember(begin, end, count, v.n,
                [&](int64_t block, int64_t member, int64_t offset, int64_t elems) {
                  if (v.hasDst(member))
                    v.combine((block * v.n + member) * count + offset,
                              v.dst(member, block * count + offset), elems);
                });
}

// Units: the elements of all destinations, by rank. So each chunk writes complete lines, even if
// the pieces from each source are short.
void runAllToAll(const View &v, int64_t begin, int64_t end) {
  const Call &c = v.call;
  forEachPiece(begin, end, c.outer * c.count * v.n, [&](int64_t target, int64_t at, int64_t elems) {
    // The place in a source at which the block's pieces begin.
    int64_t known = -1, firstOuter = 0, firstInner = 0;
    forEachMember(at, at + elems, c.dstCount, v.n,
                  [&](int64_t block, int64_t source, int64_t offset, int64_t run) {
                    if (block != known) {
                      firstOuter = block * c.dstCount / c.count;
                      firstInner = block * c.dstCount % c.count;
                      known = block;
                    }
                    int64_t outer = firstOuter, inner = firstInner + offset;
                    if (inner >= c.count) {
                      outer += inner / c.count;
                      inner %= c.count;
                    }
                    char *to = v.dst(target, (block * v.n + source) * c.dstCount + offset);
                    for (int64_t len; run > 0; run -= len, inner = 0, ++outer) {
                      len = std::min(c.count - inner, run);
                      v.copy(to, v.src(source, (outer * v.n + target) * c.count + inner), len);
                      to += len * v.size;
                    }
                  });
  });
}

// Units: the elements of all destinations, by rank.
void runPermute(const View &v, int64_t begin, int64_t end) {
  forEachPiece(begin, end, v.call.count, [&](int64_t target, int64_t offset, int64_t elems) {
    for (int32_t p = 0; p < v.call.numPairs; ++p)
      if (v.call.pairs[2 * p + 1] == target)
        return v.copy(v.dst(target, offset), v.src(v.call.pairs[2 * p], offset), elems);
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

// Whether an element of a destination has another position than the elements of the sources from
// which it is computed.
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

void runUnits(const View &view, int64_t begin, int64_t end) {
  if (begin == end)
    return;
  switch (view.call.kind) {
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

} // namespace

int64_t sourceBytes(const Call &call, int64_t n) {
  int64_t elems = call.outer * call.count;
  switch (call.kind) {
  case OpKind::Scatter:
  case OpKind::ReduceScatter:
  case OpKind::AllToAll:
    return elems * n * dtypeSize(call.dtype);
  default:
    return elems * dtypeSize(call.dtype);
  }
}

void runWork(const Call &call, const Buffers *members, int64_t n) {
  runUnits(View(call, members, n, /*streams=*/false), 0, countUnits(call, n));
}

void Work::prepare(int64_t workers) {
  int64_t n = static_cast<int64_t>(members.size());
  units = countUnits(call, n);
  int64_t traffic = trafficPerUnit(call.kind, n) * dtypeSize(call.dtype);
  int64_t chunkBytes = std::clamp(units * traffic / workers, kMinChunkBytes, kChunkBytes);
  unitsPerChunk = std::max(chunkBytes / traffic / kChunkAlign, int64_t(1)) * kChunkAlign;
  numChunks = units / unitsPerChunk + (units % unitsPerChunk != 0);
  streams_ = units * traffic > cacheBytes();
  if (units > 0 && movesElements(call.kind))
    stageInPlaceSources();
}

void Work::stageInPlaceSources() {
  int64_t n = static_cast<int64_t>(members.size());
  int64_t bytes = 0;
  for (Buffers &member : members) {
    if (member.src != member.dst || !member.src)
      continue;
    if (call.kind == OpKind::Scatter && &member != &members[static_cast<size_t>(call.root)])
      continue; // its source is not read
    const char *src = static_cast<const char *>(member.src);
    staged_.emplace_back(src, src + sourceBytes(call, n));
    member.src = staged_.back().data();
    bytes += static_cast<int64_t>(staged_.back().size());
  }
  stagedShare_ = MemoryUse::Share(bytes);
}

void Work::run(int64_t chunk) const {
  int64_t begin = chunk * unitsPerChunk;
  int64_t end = std::min(begin + unitsPerChunk, units);
  runUnits(View(call, members.data(), static_cast<int64_t>(members.size()), streams_), begin, end);
  if (streams_)
    endStream();
}

} // namespace coll::rt::threads
