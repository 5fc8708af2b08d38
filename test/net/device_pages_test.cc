// How received bytes become page descriptors, and which path the environment selects.

#include "runtime/net/gpu/bounce_pool.h"
#include "runtime/net/gpu/fragments.h"
#include "runtime/net/gpu/page_list.h"
#include "runtime/net/gpu/transport.h"
#include "runtime/net/wire.h"

#include "test/conformance/transport/harness.h"

#include <cstdlib>
#include <fstream>
#include <random>
#include <unistd.h>

namespace coll::net::test {
namespace {

constexpr uint64_t kBlock = BouncePool::kBlockBytes;

//===-- pages ---------------------------------------------------------------------===//

TEST(PagePolicyTest, NamesAndNumbers) {
  EXPECT_EQ(kPagesForNccl.pieceBytes(0), 512u);
  EXPECT_EQ(kPagesForNccl.pieceBytes(100'000), 1568u); // 1562 rounded up to 16
  EXPECT_EQ(kPagesForNccl.pieceBytes(4 << 20), 4096u);
  EXPECT_EQ(parsePagePolicy("whole")->pieceBytes(4 << 20), 1u << 30);
  EXPECT_EQ(parsePagePolicy("8:1024:65536")->pieceBytes(1 << 20), 65536u);
  for (const char *bad : {"", "ncc", "1", "1:2", "1:2:3:4", "0:1:2", "1:3:2", "1:0:2", "1:2:x",
                          "1:2:99999999999", "-1:2:3"})
    EXPECT_EQ(parsePagePolicy(bad).status().code(), kCollInvalidCall) << bad;
}

TEST(PageListTest, CoversEachByteOnce) {
  std::mt19937_64 random(1);
  const uint32_t blocks[] = {7, 3, 4, 5, 0, 100, 8191, 2, 1};
  for (const PagePolicy &policy : {kPagesForNccl, kPagesWhole, PagePolicy{1, 1, 1}})
    for (uint64_t total :
         {uint64_t(0), uint64_t(1), uint64_t(4097), kBlock, kBlock + 1, 9 * kBlock - 5}) {
      Runs runs;
      addRuns(runs, blocks, 0, total, 0);
      std::vector<rt::PageDescriptor> pages(rt::kUnpackSlotPages);
      uint32_t count = cutRuns(runs, policy, pages.data());
      ASSERT_LE(count, rt::kUnpackSlotPages);
      uint64_t at = 0;
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(pages[i].bufferOff, at);
        ASSERT_EQ(pages[i].bounceOff, blocks[at / kBlock] * kBlock + at % kBlock);
        ASSERT_GT(pages[i].len, 0u);
        at += pages[i].len;
      }
      ASSERT_EQ(at, total);
    }
}

TEST(PageListTest, WhatTouchesIsOnePage) {
  const uint32_t blocks[] = {3, 4, 5, 9};
  Runs runs;
  addRuns(runs, blocks, 0, 4 * kBlock, 0);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].len, 3 * kBlock);
}

// A copy by CUDA must be inside memory that was pinned as a whole.
TEST(PageListTest, ChunksOfThePoolAreNotJoined) {
  const uint32_t last = BouncePool::kChunkBytes / kBlock - 1;
  const uint32_t blocks[] = {last - 1, last, last + 1, last + 2};
  Runs runs;
  addRuns(runs, blocks, 0, 4 * kBlock, 0);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].len, 2 * kBlock);
  EXPECT_EQ(runs[1].bounceOff, BouncePool::kChunkBytes);
}

//===-- fragments -----------------------------------------------------------------===//

TEST(FragmentsTest, StreamsGiveTheMessageBack) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(5000), size_t(1'000'001), size_t(20'000'000)}) {
    std::vector<uint8_t> data = pattern(bytes, bytes + 3), got(bytes);
    Segment parts[3] = {{data.data(), bytes / 3, nullptr},
                        {nullptr, 0, nullptr},
                        {data.data() + bytes / 3, bytes - bytes / 3, nullptr}};
    std::vector<uint8_t> stream = shuffle(parts, 3, 42);
    ASSERT_LE(stream.size(), bytes + kMaxTrailerBytes);
    auto fragments = parseTrailer(stream.data(), stream.size(), stream.size(), bytes);
    ASSERT_TRUE(fragments.ok()) << fragments.status().message();
    std::vector<Segment> to = {{got.data(), bytes / 2, nullptr},
                               {got.data() + bytes / 2, bytes - bytes / 2, nullptr}};
    uint64_t at = 0;
    for (const Fragment &fragment : *fragments) {
      place(to, fragment.offset, stream.data() + at, fragment.bytes);
      at += fragment.bytes;
    }
    EXPECT_EQ(got, data);
    if (bytes > 0) {
      EXPECT_EQ(
          parseTrailer(stream.data(), stream.size(), stream.size(), bytes - 1).status().code(),
          kCollMismatch);
    }
  }
}

// A trailer that an attacker could write.
std::vector<uint8_t> forged(uint64_t payload, const std::vector<Fragment> &fragments,
                            uint32_t count, uint64_t total, uint32_t magic = 0x74616373) {
  std::vector<uint8_t> stream(payload + fragments.size() * 16 + 16);
  wire::Encoder trailer(stream.data() + payload);
  for (const Fragment &fragment : fragments)
    trailer.put(fragment.offset).put(fragment.bytes);
  trailer.put(magic).put(count).put(total);
  return stream;
}

TEST(FragmentsTest, HostileTrailersAreRefused) {
  const uint64_t max = ~uint64_t(0);
  auto code = [](const std::vector<uint8_t> &stream) {
    return parseTrailer(stream.data(), stream.size(), stream.size(), 1 << 20).status().code();
  };
  EXPECT_EQ(code(forged(100, {{0, 60}, {60, 40}}, 2, 100)), kCollOk);
  EXPECT_EQ(code({}), kCollPeer);
  EXPECT_EQ(code(std::vector<uint8_t>(15)), kCollPeer);
  EXPECT_EQ(code(std::vector<uint8_t>(4000, 0xff)), kCollPeer);
  EXPECT_EQ(code(forged(100, {{0, 60}, {60, 40}}, 2, 100, 1)), kCollPeer);       // magic
  EXPECT_EQ(code(forged(100, {{0, 60}, {60, 40}}, 3, 100)), kCollPeer);          // count
  EXPECT_EQ(code(forged(100, {{0, 60}, {60, 40}}, 0xffffffff, 100)), kCollPeer); // count
  EXPECT_EQ(code(forged(100, {{0, 60}, {60, 40}}, 2, 99)), kCollPeer);           // total
  EXPECT_EQ(code(forged(100, {{0, 60}, {60, 40}}, 2, max)), kCollPeer);          // total
  EXPECT_EQ(code(forged(100, {{0, 60}, {59, 40}}, 2, 100)), kCollPeer);          // overlap
  EXPECT_EQ(code(forged(100, {{0, 60}, {61, 40}}, 2, 100)), kCollPeer);          // gap
  EXPECT_EQ(code(forged(100, {{0, 60}, {60, 41}}, 2, 100)), kCollPeer);          // too long
  EXPECT_EQ(code(forged(100, {{0, 100}, {100, 0}}, 2, 100)), kCollPeer);         // empty
  EXPECT_EQ(code(forged(100, {{max - 10, 60}, {60, 40}}, 2, 100)), kCollPeer);   // offset
  EXPECT_EQ(code(forged(100, {{0, 60}, {60, max - 19}}, 2, 100)), kCollPeer);    // wraps
  EXPECT_EQ(code(forged(100, {}, 0, 100)), kCollPeer);                           // none
}

TEST(FragmentsTest, MutatedTrailersNeverLeadOutside) {
  std::mt19937_64 random(7);
  std::vector<uint8_t> data = pattern(50'000, 1);
  Segment whole = segment(data);
  std::vector<uint8_t> good = shuffle(&whole, 1, 5);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint8_t> bad = good;
    for (uint64_t i = 0; i < 1 + random() % 4; ++i)
      bad[bad.size() - 1 - random() % std::min<size_t>(bad.size(), 300)] ^=
          static_cast<uint8_t>(1 << random() % 8);
    if (random() % 4 == 0)
      bad.resize(random() % (bad.size() + 1));
    auto fragments = parseTrailer(bad.data(), bad.size(), bad.size(), data.size());
    uint64_t sum = 0;
    if (!fragments.ok())
      continue;
    for (const Fragment &fragment : *fragments) {
      ASSERT_LE(fragment.offset, data.size());
      ASSERT_LE(fragment.bytes, data.size() - fragment.offset);
      sum += fragment.bytes;
    }
    ASSERT_LE(sum, data.size());
  }
}

//===-- options -------------------------------------------------------------------===//

class EnvironmentTest : public testing::Test {
protected:
  void set(const char *name, const char *value) {
    setenv(name, value, 1);
    names_.push_back(name);
  }
  void TearDown() override {
    for (const char *name : names_)
      unsetenv(name);
  }

private:
  std::vector<const char *> names_;
};

TEST_F(EnvironmentTest, DefaultIsHostOnStreamsAndUnpackWhereDataLandsScattered) {
  Result<DeviceOptions> options = DeviceOptions::fromEnv();
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->unpacks());
  set("COLL_NET_SCATTER", "1");
  EXPECT_TRUE(DeviceOptions::fromEnv()->unpacks());
  set("COLL_NET_DEVICE_UNPACK", "0");
  EXPECT_FALSE(DeviceOptions::fromEnv()->unpacks());
}

TEST_F(EnvironmentTest, NcclsNamesServeWhereOursAreUnset) {
  set("NCCL_NET_DEVICE_UNPACK_ENABLED", "1");
  set("NCCL_NET_DEVICE_UNPACK_THRESHOLD", "8192");
  EXPECT_TRUE(DeviceOptions::fromEnv()->unpacks());
  EXPECT_EQ(DeviceOptions::fromEnv()->unpackThreshold, 8192u);
  set("COLL_NET_DEVICE_UNPACK", "0");
  set("COLL_NET_DEVICE_UNPACK_THRESHOLD", "1");
  EXPECT_FALSE(DeviceOptions::fromEnv()->unpacks());
  EXPECT_EQ(DeviceOptions::fromEnv()->unpackThreshold, 1u);
}

TEST_F(EnvironmentTest, ATableComesBeforeTheDefaultAndAfterTheEnvironment) {
  const std::string file = testing::TempDir() + "device_paths_" + std::to_string(getpid());
  std::ofstream(file) << R"({"format": "coll routes", "version": 1, "routes": [], "paths": [
      {"kind": "tcp", "max_bytes": 65536, "path": "host"}, {"kind": "tcp", "path": "unpack"},
      {"kind": "tcp scatter", "path": "host"}, {"kind": "loopback", "path": "pack"}]})";
  const auto chosen = [](const char *transport) {
    return *DeviceOptions::fromEnvAndTable(transport);
  };
  EXPECT_FALSE(chosen("tcp").unpacks());
  set("COLL_ROUTES", file.c_str());
  EXPECT_TRUE(chosen("tcp").unpacks());
  EXPECT_TRUE(chosen("tcp").isByTable);
  EXPECT_EQ(chosen("tcp").unpackThreshold, 65537u);
  EXPECT_TRUE(chosen("loopback").unpacks());
  EXPECT_FALSE(chosen("verbs").unpacks());
  EXPECT_EQ(chosen("verbs").chosenBy, "the default");
  set("COLL_NET_SCATTER", "1");
  EXPECT_FALSE(chosen("tcp").unpacks());
  EXPECT_TRUE(chosen("verbs").unpacks()) << "nothing is said of it";
  unsetenv("COLL_NET_SCATTER");
  for (const auto &[name, value] : {std::pair("COLL_NET_DEVICE_UNPACK", "auto"),
                                    {"COLL_NET_DEVICE_UNPACK_THRESHOLD", "0"},
                                    {"NCCL_NET_DEVICE_UNPACK_ENABLED", "0"},
                                    {"NCCL_NET_DEVICE_UNPACK_THRESHOLD", "0"}}) {
    setenv(name, value, 1);
    EXPECT_FALSE(chosen("tcp").unpacks()) << name;
    EXPECT_EQ(chosen("tcp").unpackThreshold, 0u) << name;
    EXPECT_EQ(chosen("tcp").chosenBy, "the environment") << name;
    unsetenv(name);
  }
  std::ofstream(file) << "{";
  EXPECT_EQ(DeviceOptions::fromEnvAndTable("tcp").status().message(),
            "COLL_ROUTES: " + file + ":1:2: not JSON");
  unlink(file.c_str());
}

TEST_F(EnvironmentTest, NonsenseIsRefusedByName) {
  for (const char *name : {"COLL_NET_DEVICE_UNPACK", "COLL_NET_DEVICE_UNPACK_THRESHOLD",
                           "COLL_NET_DEVICE_PAGES", "COLL_NET_BOUNCE_BYTES"}) {
    setenv(name, "maybe", 1);
    Status status = DeviceOptions::fromEnv().status();
    EXPECT_EQ(status.code(), kCollInvalidCall);
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
    unsetenv(name);
  }
}

} // namespace
} // namespace coll::net::test
