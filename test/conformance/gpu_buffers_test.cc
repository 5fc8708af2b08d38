// What only GPU buffers of backend net can get wrong: operations under way at once share
// slots of staging memory, and must not starve each other; compressed messages bring the same bits;
// a handle of another version is refused.

#include "runtime/backend/net/gpu_mover.h"
#include "runtime/backend/net/mesh.h"
#include "runtime/base/env.h"
#include "runtime/base/narrow.h"
#include "test/conformance/harness.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <unistd.h>

namespace coll::rt::test {

namespace {

constexpr int64_t kElems = 2 << 20; // more segments than a lane has under way at once

class GpuBuffers : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (std::string whyNot = whyNotHere(GetParam()); !whyNot.empty())
      GTEST_SKIP() << whyNot;
  }
};

// Starts `left` sums one after the other, then waits for them in the opposite order.
void sumMany(Member &m, int left) {
  if (left == 0)
    return;
  Elements data(kCollF32, kElems);
  for (int64_t i = 0; i < kElems; i += 101)
    data.set(i, sample(kCollF32, m.rank + left, i));
  Call call = makeCall(OpKind::AllReduce, kCollF32, kElems, data.data(), data.data());
  Result<Request *> request = m.start(call);
  sumMany(m, left - 1);
  Status outcome = request ? m.wait(*request) : request.status();
  ASSERT_TRUE(outcome.ok()) << outcome.toString();
  for (int64_t i = 0; i < kElems; i += 101)
    ASSERT_EQ(data.get(i), sample(kCollF32, left, i) + sample(kCollF32, 1 + left, i)) << i;
}

} // namespace

TEST_P(GpuBuffers, OperationsUnderWayAtOnceDoNotStarveEachOther) {
  runJob(GetParam(), oneGroup(2), [](Member &m) { sumMany(m, 6); });
}

//===-- compressed messages -----------------------------------------------------===//

namespace {

// bf16 with some of what is not a number.
std::vector<uint16_t> bf16Bits(unsigned seed, size_t count) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> bits(count);
  for (uint16_t &value : bits)
    value =
        random() % 999 == 0 ? static_cast<uint16_t>(0x7f80 | random()) : f32ToBf16(normal(random));
  return bits;
}

// What each rank has after calls whose messages are several pages, some with a short one at the
// end.
std::vector<std::vector<uint16_t>> resultsOf(const std::string &backend) {
  constexpr int64_t kCount = 300'001;
  std::vector<std::vector<uint16_t>> results(2);
  runJob(backend, oneGroup(2), [&](Member &m) {
    const auto rank = static_cast<size_t>(m.rank);
    std::vector<uint16_t> mine = bf16Bits(rank + 1, 2 * kCount), &all = results[rank];
    all.resize(4 * kCount);
    Call gather = makeCall(OpKind::AllGather, kCollBf16, kCount, mine.data(), all.data());
    Call sum = makeCall(OpKind::AllReduce, kCollF32, kCount, mine.data(), &all[2 * kCount]);
    for (const Call &call : {gather, sum}) {
      Status outcome = m.call(call);
      ASSERT_TRUE(outcome.ok()) << outcome.toString();
    }
    for (int from : {0, 1})
      EXPECT_EQ(0, std::memcmp(&all[static_cast<size_t>(from * kCount)],
                               bf16Bits(static_cast<unsigned>(from) + 1, 2 * kCount).data(),
                               2 * kCount));
  });
  return results;
}

} // namespace

class GpuMoverTest : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    std::string whyNot;
    memory_ = makeGpuMemory(GetParam(), whyNot);
    if (!memory_)
      GTEST_SKIP() << whyNot;
  }

  std::unique_ptr<GpuMemory> memory_;
};
using GpuCompression = GpuMoverTest;

TEST_P(GpuCompression, BringsTheBitsThatTravelWithoutIt) {
  memory_.reset(); // the jobs have their own
  EXPECT_TRUE(resultsOf("net/tcp//" + GetParam() + "/kernel") ==
              resultsOf("net/tcp//" + GetParam() + "/compress"));
}

TEST_P(GpuCompression, MessagesAreShorterAndCheckedWhenTheyCome) {
  constexpr int64_t kBytes = 1'000'000;
  network::GpuMoverOptions options;
  options.compress = options.channel.compress = true;
  options.channel.blocks = 2;
  std::unique_ptr<network::GpuMover> mover =
      network::GpuMover::create(network::gpuPlatform(), 0, options).take();
  const std::vector<uint16_t> data = bf16Bits(1, kBytes / 2);
  char *source = mover->allocate(kBytes).take(), *target = mover->allocate(kBytes).take();
  ASSERT_TRUE(mover->write(source, data.data(), kBytes).ok());

  network::Parcel sent = **mover->load(source, kBytes, /*first=*/true);
  while (!*mover->isFilled(sent))
    std::this_thread::yield();
  EXPECT_LT(sent.segment.bytes, kBytes * 8 / 10);
  const std::vector<char> message(static_cast<char *>(sent.segment.data),
                                  static_cast<char *>(sent.segment.data) + sent.segment.bytes);
  mover->release(sent);

  network::Link link(1, nullptr);
  const auto receive = [&](const std::vector<char> &what, uint64_t bytes) {
    network::Parcel parcel = **mover->expect(link, target, kBytes, /*first=*/true);
    EXPECT_GE(parcel.segment.bytes, static_cast<uint64_t>(kBytes));
    std::memcpy(parcel.segment.data, what.data(), what.size());
    parcel.segment.bytes = bytes;
    Result<network::Mover::Ticket> ticket = mover->unload(parcel);
    Status outcome = ticket ? mover->waitFor(*ticket) : ticket.status();
    mover->release(parcel);
    return outcome;
  };
  EXPECT_EQ(receive(message, message.size() - 16).code(), kCollPeer) << "truncated";
  EXPECT_EQ(receive(message, 0).code(), kCollPeer) << "empty";
  for (size_t at : {0, 4, 8, 12, 16, 18, 20, 22}) {
    std::vector<char> spoilt = message;
    spoilt[at] = static_cast<char>(spoilt[at] ^ 0x5a);
    EXPECT_EQ(receive(spoilt, spoilt.size()).code(), kCollPeer) << "byte " << at;
  }
  Status outcome = receive(message, message.size());
  EXPECT_TRUE(outcome.ok()) << outcome.toString();
  std::vector<uint16_t> back(data.size());
  ASSERT_TRUE(mover->read(back.data(), target, kBytes).ok());
  EXPECT_TRUE(back == data);
  mover->release(source);
  mover->release(target);
}

//===-- paths by size -----------------------------------------------------------===//

// Messages of one operation go different ways, as a table says.
TEST_P(GpuBuffers, ATableSendsShortMessagesThroughSlots) {
  const size_t end = GetParam().rfind('/');
  const std::string own = GetParam().substr(end + 1), path = own == "copy" ? "host" : own;
  const std::string file = testing::TempDir() + "gpu_paths_" + std::to_string(getpid());
  std::ofstream(file) << R"({"format": "coll routes", "version": 1, "routes": [], "paths": [
      {"kind": "tcp", "max_bytes": 100000, "path": "kernel"},
      {"kind": "tcp", "path": ")"
                      << path << R"("}]})";
  const std::string byDefault = GetParam().substr(0, end);
  const std::vector<std::vector<uint16_t>> expected = resultsOf(byDefault);
  ScopedEnv table("COLL_ROUTES", file.c_str());
  EXPECT_TRUE(resultsOf(byDefault) == expected);
  unlink(file.c_str());
}

//===-- handles -----------------------------------------------------------------===//

namespace {

// A connection whose descriptors this library does not know.
class NewerConnection final : public net::Connection {
public:
  const net::DeviceHandle *deviceHandle() const override { return &handle_; }
  Result<net::Request *> isend(const net::Segment *, int, uint64_t) override { return none(); }
  Result<net::Request *> irecv(const net::Segment *, int, uint64_t) override { return none(); }
  Result<net::Request *> iwrite(const net::Segment *, int, const net::RemoteKey &,
                                uint64_t) override {
    return none();
  }
  Result<net::Request *> iread(const net::Segment *, int, const net::RemoteKey &,
                               const net::RemoteRows &) override {
    return none();
  }
  Result<net::Request *> iflush(const net::Segment *, int) override { return none(); }
  Result<net::Completion> test(net::Request *) override { return net::Completion(); }
  void close() override {}

private:
  static net::Request *none() { return nullptr; }
  const net::DeviceHandle handle_ = {net::DeviceType::Unpack, kUnpackVersion + 1, nullptr, 0, true};
};

} // namespace

using GpuUnpacking = GpuMoverTest;

TEST_P(GpuUnpacking, AHandleOfAnotherVersionIsRefused) {
  network::GpuMoverOptions options;
  options.path = network::GpuPath::Unpack;
  options.channel.blocks = 2;
  std::unique_ptr<network::GpuMover> mover =
      network::GpuMover::create(network::gpuPlatform(), 0, options).take();
  char *target = mover->allocate(64).take();
  network::Link link(1, std::make_unique<NewerConnection>());
  for (int again = 0; again < 2; ++again) {
    const Status status = mover->expect(link, target, 64, /*first=*/true).status();
    EXPECT_EQ(status.code(), kCollUnsupported);
    EXPECT_EQ(status.message(), "a device handle of version 0x8, this kernel reads 0x7");
  }
  mover->release(target);
}

INSTANTIATE_TEST_SUITE_P(fake, GpuCompression, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuCompression, testing::Values("gpu"));
INSTANTIATE_TEST_SUITE_P(fake, GpuUnpacking, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuUnpacking, testing::Values("gpu"));

INSTANTIATE_TEST_SUITE_P(fake, GpuBuffers,
                         testing::Values("net/tcp//fake/kernel", "net/tcp//fake/unpack",
                                         "net/tcp//fake/copy"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuBuffers,
                         testing::Values("net/tcp//gpu/kernel", "net/tcp//gpu/unpack",
                                         "net/tcp//gpu/copy"));

} // namespace coll::rt::test
