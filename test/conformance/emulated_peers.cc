#include "test/conformance/emulated_peers.h"

#include "runtime/base/dtype.h"
#include "runtime/base/reduce.h"
#include "runtime/dl/fake_cuda.h"
#include "runtime/kernels/error_word.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace coll::rt::test {

namespace {

using kernels::CopyArgs;
using kernels::KernelError;
using kernels::PeerGroup;
using kernels::ReduceArgs;

// At the start of a workspace.
struct Board {
  uint64_t phase; // of its owner
  uint64_t reached[kernels::kMaxPeers];
  uint64_t signature;
  uint64_t failed;
};
constexpr size_t kChunk = 64 << 10;
constexpr size_t kData = 4096; // offset of a chunk in a workspace

using Bytes = std::vector<char>;

class Member {
public:
  explicit Member(const PeerGroup &group) : group_(group) {}

  // Every member's contribution of so many bytes. False where the call has failed.
  bool collect(uint64_t signature, const void *src, const std::vector<size_t> &bytes,
               std::vector<Bytes> &all) {
    const uint32_t n = group_.size, me = group_.rank;
    size_t most = *std::max_element(bytes.begin(), bytes.end());
    for (uint32_t i = 0; i < n; ++i)
      all.emplace_back(bytes[i]);
    board(me).signature = signature;
    for (size_t at = 0; at == 0 || at < most; at += kChunk) {
      if (at < bytes[me])
        std::memcpy(data(me), static_cast<const char *>(src) + at,
                    std::min(kChunk, bytes[me] - at));
      if (!meet())
        return false;
      for (uint32_t i = 0; i < n; ++i) {
        if (at == 0 && board(i).signature != signature)
          return fail(KernelError::PeerMismatch, i);
        if (at < bytes[i])
          std::memcpy(all[i].data() + at, data(i), std::min(kChunk, bytes[i] - at));
      }
      if (!meet())
        return false;
    }
    return true;
  }

private:
  Board &board(uint32_t i) { return *reinterpret_cast<Board *>(group_.workspace[i]); }
  char *data(uint32_t i) { return group_.workspace[i] + kData; }

  bool fail(KernelError error, uint32_t detail) {
    __atomic_store_n(&group_.control->error, kernels::errorWord(error, detail), __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < group_.size; ++i)
      __atomic_store_n(&board(i).failed, group_.rank + 1, __ATOMIC_RELEASE);
    return false;
  }
  bool meet() {
    Board &mine = board(group_.rank);
    const uint64_t phase = ++mine.phase;
    for (uint32_t i = 0; i < group_.size; ++i)
      __atomic_store_n(&board(i).reached[group_.rank], phase, __ATOMIC_SEQ_CST);
    auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(group_.timeoutNs);
    for (uint32_t i = 0; i < group_.size; ++i)
      while (__atomic_load_n(&mine.reached[i], __ATOMIC_SEQ_CST) < phase) {
        if (uint64_t failed = __atomic_load_n(&mine.failed, __ATOMIC_ACQUIRE))
          return fail(KernelError::PeerFailed, static_cast<uint32_t>(failed - 1));
        if (__atomic_load_n(&group_.control->abort, __ATOMIC_ACQUIRE))
          return fail(KernelError::PeerAborted, group_.rank);
        if (std::chrono::steady_clock::now() > deadline)
          return fail(KernelError::PeerTimeout, i);
        std::this_thread::yield();
      }
    return true;
  }

  PeerGroup group_;
};

// The stream goes on when `work` has ended on a thread of its own.
Status onStream(void *stream, std::function<void()> work) {
  auto begin = [work = std::move(work)]() -> dl::FakeCuda::Question {
    auto done = std::make_shared<std::atomic<bool>>(false);
    std::thread([work, done] {
      work();
      done->store(true);
    }).detach();
    return [done] { return done->load(); };
  };
  return dl::FakeCuda::enqueue(static_cast<dl::CudaStream>(stream), begin) == dl::kCudaSuccess
             ? Status()
             : Status(kCollDevice, "launch");
}

uint64_t mix(std::initializer_list<uint64_t> values) {
  uint64_t hash = 1469598103934665603u;
  for (uint64_t value : values)
    hash = (hash ^ value) * 1099511628211u;
  return hash;
}

Status init(const PeerGroup &group, void *stream) {
  return onStream(stream, [group] { std::memset(group.workspace[group.rank], 0, kData); });
}

enum class Reduced { All, Scattered, AtRoot };

Status launchReduction(const PeerGroup &group, const ReduceArgs &args, void *stream, Reduced how) {
  return onStream(stream, [=] {
    auto elem = static_cast<size_t>(dtypeSize(args.dtype));
    size_t n = group.size, row = args.count * elem;
    size_t bytes = args.outer * row * (how == Reduced::Scattered ? n : 1);
    std::vector<Bytes> all;
    uint64_t signature =
        mix({static_cast<uint64_t>(how), args.outer, args.count, static_cast<uint64_t>(args.dtype),
             static_cast<uint64_t>(args.reduction), args.root});
    if (!Member(group).collect(signature, args.src, std::vector<size_t>(n, bytes), all))
      return;
    if (how == Reduced::AtRoot && group.rank != args.root)
      return;
    for (size_t o = 0; o < (how == Reduced::Scattered ? args.outer : 1); ++o) {
      size_t from = how == Reduced::Scattered ? (o * n + group.rank) * row : 0;
      size_t count = how == Reduced::Scattered ? args.count : args.outer * args.count;
      std::vector<const void *> sources;
      for (const Bytes &one : all)
        sources.push_back(one.data() + from);
      reduceBuffers(args.dtype, args.reduction, sources.data(), static_cast<int>(n),
                    static_cast<char *>(args.dst) + o * row, static_cast<int64_t>(count));
    }
  });
}

Status allReduce(const PeerGroup &g, const ReduceArgs &a, void *s) {
  return launchReduction(g, a, s, Reduced::All);
}
Status reduceScatter(const PeerGroup &g, const ReduceArgs &a, void *s) {
  return launchReduction(g, a, s, Reduced::Scattered);
}
Status reduce(const PeerGroup &g, const ReduceArgs &a, void *s) {
  return launchReduction(g, a, s, Reduced::AtRoot);
}

// `gives(i)`: blocks that member i contributes; `place(all)` writes the destination.
Status launchCopy(const PeerGroup &group, const CopyArgs &args, void *stream, uint64_t kind,
                  std::function<size_t(uint32_t)> gives,
                  std::function<void(const std::vector<Bytes> &)> place) {
  return onStream(stream, [=] {
    std::vector<size_t> bytes;
    for (uint32_t i = 0; i < group.size; ++i)
      bytes.push_back(gives(i) * args.srcRows * args.srcRowBytes);
    std::vector<Bytes> all;
    uint64_t signature =
        mix({kind, args.srcRows, args.srcRowBytes, args.dstRows, args.dstRowBytes, args.root});
    if (Member(group).collect(signature, args.src, bytes, all))
      place(all);
  });
}

// Row r of member i's block of the destination.
char *rowOf(const CopyArgs &args, uint32_t n, size_t r, uint32_t i) {
  return static_cast<char *>(args.dst) + (r * n + i) * args.dstRowBytes;
}
void placeBlocks(const PeerGroup &group, const CopyArgs &args, const std::vector<Bytes> &all) {
  for (uint32_t i = 0; i < group.size; ++i)
    for (size_t r = 0; r < args.dstRows; ++r)
      std::memcpy(rowOf(args, group.size, r, i), all[i].data() + r * args.dstRowBytes,
                  args.dstRowBytes);
}
// Block `j` of a buffer [rows][n][rowBytes], dense.
Bytes blockOf(const CopyArgs &args, uint32_t n, uint32_t j, const Bytes &from) {
  Bytes block(args.srcRows * args.srcRowBytes);
  for (size_t r = 0; r < args.srcRows; ++r)
    std::memcpy(block.data() + r * args.srcRowBytes, from.data() + (r * n + j) * args.srcRowBytes,
                args.srcRowBytes);
  return block;
}

Status allGather(const PeerGroup &g, const CopyArgs &a, void *s) {
  return launchCopy(
      g, a, s, 10, [](uint32_t) { return 1; },
      [=](const std::vector<Bytes> &all) { placeBlocks(g, a, all); });
}
Status gather(const PeerGroup &g, const CopyArgs &a, void *s) {
  return launchCopy(
      g, a, s, 11, [](uint32_t) { return 1; },
      [=](const std::vector<Bytes> &all) {
        if (g.rank == a.root)
          placeBlocks(g, a, all);
      });
}
Status broadcast(const PeerGroup &g, const CopyArgs &a, void *s) {
  return launchCopy(
      g, a, s, 12, [=](uint32_t i) { return i == a.root ? 1 : 0; },
      [=](const std::vector<Bytes> &all) {
        if (!all[a.root].empty())
          std::memcpy(a.dst, all[a.root].data(), all[a.root].size());
      });
}
Status scatter(const PeerGroup &g, const CopyArgs &a, void *s) {
  return launchCopy(
      g, a, s, 13, [=](uint32_t i) { return i == a.root ? g.size : 0; },
      [=](const std::vector<Bytes> &all) {
        Bytes block = blockOf(a, g.size, g.rank, all[a.root]);
        if (!block.empty())
          std::memcpy(a.dst, block.data(), block.size());
      });
}
Status allToAll(const PeerGroup &g, const CopyArgs &a, void *s) {
  return launchCopy(
      g, a, s, 14, [=](uint32_t) { return g.size; },
      [=](const std::vector<Bytes> &all) {
        std::vector<Bytes> blocks;
        for (const Bytes &one : all)
          blocks.push_back(blockOf(a, g.size, g.rank, one));
        placeBlocks(g, a, blocks);
      });
}
Status permute(const PeerGroup &g, const CopyArgs &a, const int32_t *pairs, uint32_t numPairs,
               void *s) {
  std::vector<int32_t> list(pairs, pairs + 2 * numPairs);
  return launchCopy(
      g, a, s, 15,
      [=](uint32_t i) {
        for (size_t p = 0; p < list.size(); p += 2)
          if (list[p] == static_cast<int32_t>(i))
            return 1;
        return 0;
      },
      [=](const std::vector<Bytes> &all) {
        if (a.dst && a.srcRows * a.srcRowBytes > 0)
          std::memset(a.dst, 0, a.srcRows * a.srcRowBytes);
        for (size_t p = 0; p < list.size(); p += 2)
          if (list[p + 1] == static_cast<int32_t>(g.rank) && a.dst) {
            const Bytes &from = all[static_cast<size_t>(list[p])];
            if (!from.empty())
              std::memcpy(a.dst, from.data(), from.size());
          }
      });
}
Status barrier(const PeerGroup &g, void *s) {
  return launchCopy(g, {}, s, 16, [](uint32_t) { return 0; }, [](const std::vector<Bytes> &) {});
}

} // namespace

direct::PeerKernels emulatedPeers() {
  return {init,      allReduce, reduceScatter, reduce,  allGather, allToAll,
          broadcast, gather,    scatter,       permute, barrier};
}

} // namespace coll::rt::test
