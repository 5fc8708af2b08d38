// Copies that bypass the caches. ctest runs these with COLL_STREAM_BYTES=1 as well, with which all
// data is streamed, and so are the conformance tests of backend threads.

#include "runtime/backend/backend.h"
#include "runtime/backend/threads/work.h"
#include "runtime/base/env.h"
#include "runtime/base/machine.h"
#include "runtime/base/memory_use.h"

#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace coll::rt::threads {
namespace {

TEST(StreamingTest, TheThresholdIsTheVariablesOrTheCaches) {
  const int64_t chosen = envInt(EnvVar::StreamBytes);
  if (chosen > 0)
    EXPECT_EQ(cacheBytes(), chosen);
  else
    EXPECT_GE(cacheBytes(), 64 << 10);
}

// Sums of what `n` members have, each at an offset of its own in a cache line, with a guard before
// and behind each destination.
void checkAllReduce(int64_t n, int64_t count, bool inPlace) {
  SCOPED_TRACE(std::to_string(n) + " members, " + std::to_string(count) + " elements" +
               (inPlace ? ", in place" : ""));
  constexpr int64_t kGuard = 32;
  const auto room = static_cast<size_t>(count + 2 * kGuard);
  std::vector<std::vector<int32_t>> src, dst;
  Work work;
  work.call.kind = OpKind::AllReduce;
  work.call.dtype = kCollI32;
  work.call.count = count;
  for (int64_t i = 0; i < n; ++i) {
    src.emplace_back(room);
    std::iota(src.back().begin(), src.back().end(), static_cast<int32_t>(i * 1000));
    dst.emplace_back(room, -7);
  }
  for (size_t i = 0; i < src.size(); ++i) {
    int32_t *from = src[i].data() + i + 1;
    work.members.push_back({from, inPlace ? from : dst[i].data() + i + 1});
  }
  std::vector<int32_t> expected(static_cast<size_t>(count));
  for (size_t i = 0; i < src.size(); ++i)
    for (size_t e = 0; e < expected.size(); ++e)
      expected[e] += src[i][i + 1 + e];
  const std::vector<std::vector<int32_t>> before = inPlace ? src : dst;
  work.prepare(/*workers=*/2);
  for (int64_t chunk = 0; chunk < work.numChunks; ++chunk)
    work.run(chunk);
  for (size_t i = 0; i < src.size(); ++i) {
    std::vector<int32_t> wanted = before[i];
    std::copy(expected.begin(), expected.end(), wanted.begin() + static_cast<ptrdiff_t>(i) + 1);
    ASSERT_EQ(inPlace ? src[i] : dst[i], wanted) << "member " << i;
  }
}

// Around what is combined at a time (8 KiB), and around chunks.
TEST(StreamingTest, AllReduceWritesEveryElementOnce) {
  for (int64_t n : {1, 2, 3, 9})
    for (int64_t count : {1, 15, 2047, 2048, 2049, 4097, 30'011, 200'003})
      for (bool inPlace : {false, true})
        checkAllReduce(n, count, inPlace);
}

TEST(StreamingTest, CopiesOfSourcesCountAsMemory) {
  const int64_t before = MemoryUse::now();
  std::vector<float> data(8);
  Work work;
  work.call.kind = OpKind::AllGather;
  work.call.count = 4;
  work.members = {{data.data(), data.data()}, {data.data() + 4, data.data()}};
  work.prepare(/*workers=*/1);
  EXPECT_EQ(MemoryUse::now() - before, 16);
  work.reset();
  EXPECT_EQ(MemoryUse::now(), before);
}

// Around what one side copies at a time (128 KiB), from where on both sides copy (512 KiB).
TEST(StreamingTest, TransfersCopyEveryByteOnce) {
  BackendOptions options;
  options.numRanks = 2;
  auto backend = createBackend("threads", options).take();
  std::unique_ptr<Endpoint> ends[] = {backend->endpoint(0).take(), backend->endpoint(1).take()};
  for (int64_t bytes : {(512 << 10) - 1, 512 << 10, (512 << 10) + 1, (640 << 10) + 77, 3 << 20}) {
    std::vector<uint8_t> data(static_cast<size_t>(bytes)), got(data.size() + 2, 0xee);
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<uint8_t>(i * 31 + (i >> 9));
    for (const auto &end : ends)
      end->enter();
    auto run = [&](int rank) {
      Call call;
      call.kind = rank == 0 ? OpKind::Send : OpKind::Recv;
      call.dtype = kCollI8;
      call.count = bytes;
      call.src = rank == 0 ? data.data() : nullptr;
      call.dst = rank == 0 ? nullptr : got.data() + 1;
      call.peer = 1 - rank;
      auto group = ends[rank]->communicator({0, 1}).take();
      EXPECT_TRUE(group->run(call).ok());
      ends[rank]->leave();
    };
    std::thread other(run, 1);
    run(0);
    other.join();
    EXPECT_EQ(got.front(), 0xee);
    EXPECT_EQ(got.back(), 0xee);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin() + 1)) << bytes << " bytes";
  }
}

} // namespace
} // namespace coll::rt::threads
