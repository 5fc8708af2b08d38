#include "test/conformance/transport/harness.h"

#include <cstring>

namespace coll::net::test {
namespace {

Memory *registerHost(Transport &transport, std::vector<uint8_t> &bytes) {
  Result<Memory *> memory =
      transport.regMr(0, {bytes.data(), bytes.size(), MemoryKind::Host, -1, 0});
  EXPECT_TRUE(memory.ok()) << memory.status().message();
  return memory.ok() ? *memory : nullptr;
}

TEST_P(TransportTest, WritesAndReadsRemoteMemory) {
  Ends ends = connect();
  std::vector<uint8_t> remote(3 << 20, 0x11);
  Memory *memory = registerHost(*right_, remote);
  ASSERT_NE(memory, nullptr);
  RemoteKey key = memory->remoteKey();
  for (size_t bytes : {size_t(0), size_t(1), size_t(70'000), size_t(2 << 20)}) {
    const size_t offset = 12'345;
    std::vector<uint8_t> data = pattern(bytes, bytes + 1), back(bytes);
    std::vector<uint8_t> expected = remote;
    std::copy(data.begin(), data.end(), expected.begin() + offset);
    Segment from[2] = {{data.data(), bytes / 3, nullptr},
                       {data.data() + bytes / 3, bytes - bytes / 3, nullptr}};
    Result<Request *> write = ends.left->iwrite(from, 2, key, offset);
    ASSERT_TRUE(write.ok());
    expectDone(*ends.left, *write, bytes);
    Segment to = segment(back);
    Result<Request *> read = ends.left->iread(&to, 1, key, offset);
    ASSERT_TRUE(read.ok());
    expectDone(*ends.left, *read, bytes);
    EXPECT_EQ(back, data);
    right_->deregMr(memory); // so that the owner may look
    EXPECT_TRUE(remote == expected);
    memory = registerHost(*right_, remote);
    key = memory->remoteKey();
  }
  right_->deregMr(memory);
}

TEST_P(TransportTest, RangesAndKeysAreChecked) {
  Ends ends = connect();
  std::vector<uint8_t> remote(10'000, 0x22), data = pattern(4000, 1);
  Memory *memory = registerHost(*right_, remote);
  RemoteKey good = memory->remoteKey(), bad = good;
  bad.key ^= 1;
  Segment one = segment(data);
  auto expectRefused = [&](const RemoteKey &key, uint64_t offset) {
    for (bool write : {true, false}) {
      Result<Request *> request =
          write ? ends.left->iwrite(&one, 1, key, offset) : ends.left->iread(&one, 1, key, offset);
      ASSERT_TRUE(request.ok());
      EXPECT_EQ(outcome(*ends.left, *request), kCollInvalidCall);
    }
  };
  expectRefused(bad, 0);
  expectRefused(good, 6001);
  expectRefused(good, 10'001);
  expectRefused(good, ~uint64_t(0) - 100);
  right_->deregMr(memory);
  expectRefused(good, 0);
  const MemoryRegion null = {nullptr, 1, MemoryKind::Host, -1, 0};
  EXPECT_EQ(right_->regMr(0, null).status().code(), kCollInvalidCall);
  EXPECT_EQ(remote, std::vector<uint8_t>(10'000, 0x22));
  expectUsable(ends);
}

// Rows that are shorter and longer than a part of a transfer or a piece of work, side by side, and
// into buffers that end within rows.
TEST_P(TransportTest, ReadsRowsOfRemoteMemory) {
  Ends ends = connect();
  std::vector<uint8_t> remote = pattern(6 << 20, 5);
  Memory *memory = registerHost(*right_, remote);
  ASSERT_NE(memory, nullptr);
  struct Case {
    size_t rows, bytes, apart;
  };
  for (const auto &[rows, bytes, apart] :
       {Case{0, 8, 8}, Case{1, 100, 100}, Case{2, 1, 6'000'000}, Case{1000, 3, 700},
        Case{300, 1024, 4096}, Case{kMaxRemoteRows, 513, 1025}, Case{64, 4096, 4096},
        Case{5, 700'000, 1'000'003}}) {
    SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(bytes));
    const size_t offset = 4321, total = rows * bytes;
    std::vector<uint8_t> back(total);
    Segment to[3] = {{back.data(), total / 3, nullptr},
                     {back.data(), 0, nullptr},
                     {back.data() + total / 3, total - total / 3, nullptr}};
    Result<Request *> read =
        ends.left->iread(to, 3, memory->remoteKey(), {offset, static_cast<uint32_t>(bytes), apart});
    ASSERT_TRUE(read.ok()) << read.status().toString();
    expectDone(*ends.left, *read, total);
    for (size_t row = 0; row < rows; ++row)
      ASSERT_EQ(std::memcmp(back.data() + row * bytes, remote.data() + offset + row * apart, bytes),
                0)
          << row;
  }
  right_->deregMr(memory);
}

TEST_P(TransportTest, RowsAreChecked) {
  Ends ends = connect();
  std::vector<uint8_t> remote(10'000, 0x22), data(4000);
  Memory *memory = registerHost(*right_, remote);
  const RemoteKey key = memory->remoteKey();
  Segment one = segment(data);
  const auto expectRefused = [&](const RemoteRows &rows, uint64_t bytes) {
    SCOPED_TRACE(std::to_string(rows.rowBytes) + " bytes, " + std::to_string(rows.stride));
    one.bytes = bytes;
    EXPECT_EQ(outcome(*ends.left, ends.left->iread(&one, 1, key, rows)), kCollInvalidCall);
  };
  constexpr uint64_t kEnd = ~uint64_t(0);
  expectRefused({0, 1000, 3001}, 4000);            // the last row ends behind it
  expectRefused({10'000, 100, 100}, 100);          // all of it
  expectRefused({10'001, 100, 100}, 0);            // or nothing
  expectRefused({kEnd - 1000, 1000, 1000}, 4000);  // around the end of numbers
  expectRefused({0, 1000, kEnd}, 2000);            // so far apart
  expectRefused({0, 1000, kEnd / 3 + 1000}, 4000); // that they come around
  expectRefused({0, 1000, uint64_t(1) << 62}, 4000);
  expectRefused({0, 1000, 999}, 4000); // they overlap
  expectRefused({0, 1000, 0}, 4000);
  expectRefused({0, 1001, 2000}, 4000); // half a row
  expectRefused({0, 4000, 4000}, 1);
  data.resize(kMaxRemoteRows + 1);
  one = segment(data);
  expectRefused({0, 1, 2}, kMaxRemoteRows + 1); // too many
  for (uint64_t apart : {uint64_t(1000), uint64_t(3000)}) {
    one.bytes = 4000;
    Result<Request *> read = ends.left->iread(&one, 1, key, {0, 1000, apart});
    ASSERT_TRUE(read.ok());
    expectDone(*ends.left, *read, 4000);
  }
  right_->deregMr(memory);
  expectRefused({0, 1000, 1000}, 4000);
  expectUsable(ends);
}

TEST_P(TransportTest, FlushOfHostMemoryIsDone) {
  Ends ends = connect();
  std::vector<uint8_t> data(100);
  Segment one = segment(data);
  Result<Request *> flush = ends.left->iflush(&one, 1);
  ASSERT_TRUE(flush.ok());
  expectDone(*ends.left, *flush, 100);
}

} // namespace
} // namespace coll::net::test
