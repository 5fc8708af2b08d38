#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "runtime/base/parker.h"
#include "runtime/base/path_pattern.h"
#include "runtime/base/status.h"
#include "runtime/base/stream_copy.h"
#include "runtime/program/host_tensor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace coll::rt {
namespace {

TEST(StatusTest, CarriesCodeAndMessage) {
  Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.toString(), "ok");
  EXPECT_TRUE(ok.annotate("here").ok());
  Status failed(kCollTimeout, "no answer");
  EXPECT_EQ(failed.annotate("rank 3").toString(), "timeout: rank 3: no answer");
}

TEST(StatusTest, ResultHoldsValueOrStatus) {
  Result<int> value = 3;
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 3);
  Result<int> failed = Status::invalid("bad");
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), kCollInvalidCall);
  Result<int> nothing = Status();
  EXPECT_EQ(nothing.status().code(), kCollInternal);
}

TEST(StatusTest, EveryCodeHasAName) {
  for (int code = kCollOk; code <= kCollInternal; ++code)
    EXPECT_STRNE(codeName(code), "unknown code");
  EXPECT_STREQ(codeName(-5), "unknown code");
}

TEST(EnvTest, DefaultsAndOverrides) {
  unsetenv("COLL_TIMEOUT_US");
  EXPECT_EQ(envInt(EnvVar::TimeoutUs), 60'000'000);
  setenv("COLL_TIMEOUT_US", "1234", 1);
  EXPECT_EQ(envInt(EnvVar::TimeoutUs), 1234);
  for (const char *bad : {"", "-1", "12x", "99999999999999999999"}) {
    setenv("COLL_TIMEOUT_US", bad, 1);
    EXPECT_EQ(envInt(EnvVar::TimeoutUs), 60'000'000) << bad;
  }
  unsetenv("COLL_TIMEOUT_US");
  for (const auto &[text, value] :
       {std::pair("1", 1), {"16", 16}, {"0", 0}, {"-1", 0}, {"17", 0}}) {
    ScopedEnv sockets("COLL_NET_SOCKETS", text);
    EXPECT_EQ(envInt(EnvVar::NetSockets), value);
  }
}

TEST(EnvTest, TableIsInEnumOrder) {
  int next = 0;
  for (const EnvInfo &info : envTable()) {
    EXPECT_EQ(static_cast<int>(info.var), next++);
    EXPECT_EQ(std::string(info.name).rfind("COLL_", 0), 0u);
  }
}

TEST(PathPatternTest, ReplacesKnownFieldsOnly) {
  const std::string process = std::to_string(getpid());
  EXPECT_EQ(expandPath("a-%r-%p.json", {{'r', "3"}}), "a-3-" + process + ".json");
  EXPECT_EQ(expandPath("%h%h", {{'h', "node"}}), "nodenode");
  EXPECT_EQ(expandPath("%r 100%", {{'h', "node"}}), "%r 100%");
  EXPECT_EQ(expandPath("%%p", {}), "%" + process);
  EXPECT_EQ(expandPath("", {{'h', "node"}}), "");
}

TEST(DtypeTest, NamesRoundTrip) {
  for (int dtype = 0; dtype < kNumDtypes; ++dtype)
    EXPECT_EQ(parseDtype(dtypeName(dtype)), static_cast<CollDtype>(dtype));
  EXPECT_FALSE(parseDtype("f8"));
  EXPECT_STREQ(dtypeName(77), "?");
  EXPECT_STREQ(reductionName(-1), "?");
}

TEST(DtypeTest, ElementCountsAreChecked) {
  EXPECT_EQ(numElements({}), 1);
  EXPECT_EQ(numElements({3, 0, 5}), 0);
  EXPECT_EQ(numElements({3, 4}), 12);
  EXPECT_FALSE(numElements({3, -1}));
  EXPECT_FALSE(numElements({int64_t(1) << 40, int64_t(1) << 40}));
  EXPECT_FALSE(HostTensor::zeros(kCollF32, {int64_t(1) << 59}).ok());
}

// Every f16 is unchanged after a conversion to f32 and back.
TEST(DtypeTest, HalfRoundTripsExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    float wide = f16ToF32(half);
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(f16ToF32(f32ToF16(wide))));
    else
      ASSERT_EQ(f32ToF16(wide), half);
  }
}

// Between two neighbouring halves, f32 values are rounded to the nearer one, ties to even.
TEST(DtypeTest, HalfRoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    uint16_t low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    float middle = (f16ToF32(low) + f16ToF32(high)) / 2;
    ASSERT_EQ(f32ToF16(middle), bits % 2 ? high : low);
    ASSERT_EQ(f32ToF16(std::nextafter(middle, 0.0f)), low);
    ASSERT_EQ(f32ToF16(std::nextafter(middle, INFINITY)), high);
  }
  EXPECT_EQ(f32ToF16(65519.996f), 0x7bff);
  EXPECT_EQ(f32ToF16(65520.0f), 0x7c00);
  EXPECT_EQ(f32ToF16(-1e30f), 0xfc00);
}

template <typename Widen, typename Narrow>
void checkByteFloat(Widen widen, Narrow narrow, uint8_t largest, float overflow, uint8_t beyond) {
  for (int bits = 0; bits < 256; ++bits) {
    float wide = widen(static_cast<uint8_t>(bits));
    if (!std::isnan(wide))
      ASSERT_EQ(narrow(wide), bits);
    else
      EXPECT_TRUE(std::isnan(widen(narrow(wide))));
  }
  for (int bits = 0; bits < largest; ++bits) {
    uint8_t low = static_cast<uint8_t>(bits), high = static_cast<uint8_t>(bits + 1);
    float middle = (widen(low) + widen(high)) / 2;
    ASSERT_EQ(narrow(middle), bits % 2 ? high : low);
    ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), low);
    ASSERT_EQ(narrow(std::nextafter(middle, INFINITY)), high);
  }
  EXPECT_EQ(narrow(std::nextafter(overflow, 0.0f)), largest);
  EXPECT_EQ(narrow(std::nextafter(overflow, INFINITY)), beyond);
  EXPECT_EQ(narrow(-INFINITY), 0x80 | beyond);
}

TEST(DtypeTest, ByteFloatsRoundToNearestEven) {
  checkByteFloat(f8E4M3FNToF32, f32ToF8E4M3FN, 0x7e, 464, 0x7f);
  checkByteFloat(f8E5M2ToF32, f32ToF8E5M2, 0x7b, 61440, 0x7c);
}

TEST(DtypeTest, BfloatRoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 0x7f7f; bits += 3) {
    uint16_t low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    ASSERT_EQ(f32ToBf16(bf16ToF32(low)), low);
    float middle = static_cast<float>(
        (static_cast<double>(bf16ToF32(low)) + static_cast<double>(bf16ToF32(high))) / 2);
    ASSERT_EQ(f32ToBf16(middle), bits % 2 ? high : low);
  }
  EXPECT_EQ(f32ToBf16(INFINITY), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16ToF32(f32ToBf16(NAN))));
}

TEST(ParkerTest, UnparkBeforeParkIsNotLost) {
  Parker parker;
  parker.announce();
  parker.unpark();
  const auto begin = std::chrono::steady_clock::now();
  parker.park(20'000'000);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// The announcement and the change are made at the same moment, many times. If one of the two fences
// were missing, in some of the rounds neither side would see the other's value.
TEST(ParkerTest, AChangeDuringTheAnnouncementIsNotLost) {
  constexpr int kRounds = 100'000;
  constexpr int64_t kLostUs = 10'000'000;
  Parker parker;
  alignas(64) std::atomic<int> begun{0};
  alignas(64) std::atomic<int> changed{0};
  alignas(64) std::atomic<int> ended{0};
  // Without yielding first, so that both sides act at the same moment.
  auto await = [](const std::atomic<int> &word, int round) {
    for (int tries = 0; word.load(std::memory_order_acquire) < round; ++tries)
      if (tries > 2000)
        std::this_thread::yield();
  };
  std::thread waker([&] {
    for (int round = 1; round <= kRounds; ++round) {
      await(begun, round);
      changed.store(round, std::memory_order_relaxed);
      parker.unpark();
      await(ended, round);
    }
  });
  int lost = 0;
  for (int round = 1; round <= kRounds; ++round) {
    begun.store(round, std::memory_order_release);
    while (lost == 0) {
      parker.announce();
      if (changed.load(std::memory_order_relaxed) == round)
        break;
      const auto begin = std::chrono::steady_clock::now();
      parker.park(kLostUs);
      lost += std::chrono::steady_clock::now() - begin >= std::chrono::microseconds(kLostUs);
    }
    parker.retract();
    ended.store(round, std::memory_order_release);
  }
  waker.join();
  EXPECT_EQ(lost, 0);
}

TEST(ParkerTest, PassesABallBackAndForth) {
  Parker parkers[2];
  std::atomic<int> turn{0};
  constexpr int kRounds = 2000;
  auto play = [&](int me) {
    for (int round = me; round < kRounds; round += 2) {
      while (true) {
        parkers[me].announce();
        if (turn.load() == round)
          break;
        parkers[me].park(60'000'000);
      }
      parkers[me].retract();
      turn.store(round + 1);
      parkers[1 - me].unpark();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn.load(), kRounds);
}

// At every offset inside a cache line, and for lengths around one line.
TEST(StreamCopyTest, CopiesExactly) {
  std::vector<char> from(512), to(512), expected(512);
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<char>(i * 7 + 1);
  for (size_t toOffset : {0u, 1u, 17u, 63u})
    for (size_t fromOffset : {0u, 5u, 16u})
      for (size_t bytes : {0u, 1u, 47u, 63u, 64u, 65u, 127u, 128u, 300u}) {
        std::fill(to.begin(), to.end(), 'x');
        expected = to;
        std::memcpy(&expected[toOffset], &from[fromOffset], bytes);
        streamCopy(&to[toOffset], &from[fromOffset], static_cast<int64_t>(bytes));
        endStream();
        ASSERT_EQ(to, expected) << toOffset << ", " << fromOffset << ", " << bytes;
      }
}

} // namespace
} // namespace coll::rt
