// The bookkeeping of requests that all connections share.

#include "runtime/net/requests.h"

#include <deque>
#include <gtest/gtest.h>
#include <numeric>

namespace coll::net::test {
namespace {

struct PlainRequest final : BufferRequest {};
using Kind = BufferRequest::Kind;

// Buffers of 3, 0, 5 and 1 bytes.
struct Buffers {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(9);
  Segment segments[4] = {{&bytes[0], 3, nullptr},
                         {nullptr, 0, nullptr},
                         {&bytes[3], 5, nullptr},
                         {&bytes[8], 1, nullptr}};
};

TEST(RequestsTest, APoolKnowsWhatItGaveOutByItsIdAlone) {
  RequestPool<PlainRequest> pool(2);
  PlainRequest *first = pool.take(), *second = pool.take();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_EQ(pool.find(first->id()), nullptr) << "not begun";
  first->begin(Kind::Send, nullptr, 0, 0);
  const uint64_t id = first->id();
  EXPECT_EQ(pool.find(id), first);
  EXPECT_EQ(pool.find(id + 2), nullptr) << "beyond the pool";
  pool.give(*first);
  EXPECT_EQ(pool.find(id), nullptr);
  EXPECT_EQ(pool.take(), first);
  first->begin(Kind::Recv, nullptr, 0, 0);
  EXPECT_EQ(pool.find(id), nullptr) << "an id of an earlier one";
  EXPECT_EQ(pool.available(), 0u);
}

TEST(RequestsTest, WhatHasEndedStaysAsItEnded) {
  RequestPool<PlainRequest> pool(3);
  PlainRequest *done = pool.take(), *pending = pool.take();
  for (PlainRequest *one : {done, pending})
    one->begin(Kind::Send, nullptr, 0, 7);
  done->finish();
  pool.failAll({kCollLink, "gone"});
  Result<Completion> outcome = done->outcome();
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->done);
  EXPECT_EQ(outcome->bytes, 7u);
  EXPECT_EQ(pending->outcome().status().code(), kCollLink);
  EXPECT_TRUE(pool[2].isPending()) << "nobody has it";
}

TEST(RequestsTest, PiecesAreThoseOfTheBuffers) {
  Buffers buffers;
  PlainRequest request;
  request.begin(Kind::Send, buffers.segments, 4, 9);
  std::vector<uint8_t> data(9), back(9);
  std::iota(data.begin(), data.end(), uint8_t(1));
  request.scatter(data.data(), data.size());
  EXPECT_EQ(buffers.bytes, data);
  request.gather(back.data());
  EXPECT_EQ(back, data);
  for (uint64_t offset = 0; offset <= 9; ++offset)
    for (uint64_t bytes = 0; offset + bytes <= 9; ++bytes) {
      std::vector<uint8_t> got;
      uint64_t held = request.forEachPiece(offset, bytes, kMaxRequestSegments,
                                           [&](size_t segment, uint8_t *at, uint64_t count) {
                                             EXPECT_NE(segment, 1u) << "an empty buffer";
                                             got.insert(got.end(), at, at + count);
                                           });
      EXPECT_EQ(held, bytes);
      auto from = data.begin() + static_cast<ptrdiff_t>(offset);
      EXPECT_EQ(got, std::vector<uint8_t>(from, from + static_cast<ptrdiff_t>(bytes)));
    }
  EXPECT_EQ(request.forEachPiece(1, 8, 2, [](size_t, uint8_t *, uint64_t) {}), 7u);
}

TEST(RequestsTest, TheOldestWithATagIsTaken) {
  PlainRequest requests[3];
  std::deque<PlainRequest *> posted;
  for (PlainRequest &request : requests) {
    request.tag = static_cast<uint64_t>(&request != &requests[0]);
    posted.push_back(&request);
  }
  EXPECT_EQ(takeTagged(posted, 2), nullptr);
  EXPECT_EQ(takeTagged(posted, 1), &requests[1]);
  EXPECT_EQ(takeTagged(posted, 1), &requests[2]);
  EXPECT_EQ(takeTagged(posted, 1), nullptr);
  EXPECT_EQ(posted.size(), 1u);
}

TEST(RequestsTest, EqualPartsCoverTheTransferInPages) {
  constexpr uint64_t kLeast = 64 << 10;
  for (uint64_t bytes : {uint64_t(1), kLeast - 1, kLeast, 2 * kLeast - 1, 3 * kLeast + 1,
                         uint64_t(123'456'789), uint64_t(1) << 40})
    for (size_t most = 1; most <= 8; ++most) {
      uint64_t end = 0;
      std::vector<Extent> parts = equalParts(bytes, kLeast, most);
      EXPECT_LE(parts.size(), most);
      for (const Extent &part : parts) {
        EXPECT_EQ(part.offset, end);
        EXPECT_EQ(part.offset % 4096, 0u);
        EXPECT_GT(part.bytes, 0u);
        end += part.bytes;
      }
      EXPECT_EQ(end, bytes);
    }
  EXPECT_TRUE(equalParts(0, kLeast, 4).empty());
  EXPECT_TRUE(equalParts(100, kLeast, 0).empty());
}

} // namespace
} // namespace coll::net::test
