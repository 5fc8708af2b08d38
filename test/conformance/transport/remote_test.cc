#include "test/conformance/transport/harness.h"

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
  EXPECT_EQ(remote, std::vector<uint8_t>(10'000, 0x22));
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
