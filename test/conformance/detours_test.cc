// Messages of GPU buffers for which the transport has no room go through slots of the mover: in
// every lane the first one, and then the next.

#include "runtime/backend/net/algorithms/schedule.h"
#include "runtime/backend/net/gpu/mover.h"
#include "runtime/backend/net/mesh.h"
#include "runtime/net/loopback/loopback.h"
#include "test/conformance/gpu_memory.h"
#include "test/net/flaky_transport.h"
#include "test/support/comes_true.h"

#include <array>
#include <gtest/gtest.h>

namespace coll::rt::test {

namespace {

constexpr int64_t kBytes = 100'000, kGuard = 64;
constexpr int kMessages = 12; // more than a lane has under way at once

// Stands for the memory of a GPU in a transport that takes none of it.
struct GpuRegion final : net::Memory {
  net::RemoteKey remoteKey() const override { return {}; }
};

class GpuDetours : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    std::string whyNot;
    memory_ = makeGpuMemory(GetParam(), whyNot);
    if (!memory_)
      GTEST_SKIP() << whyNot;
    transport_.refuseRegistered();
    std::vector<net::Handle> handles;
    for (int rank = 0; rank < 2; ++rank) {
      meshes_[rank] = network::Mesh::create(transport_, rank, 2).take();
      handles.push_back(meshes_[rank]->handle());
    }
    for (const auto &mesh : meshes_)
      ASSERT_TRUE(mesh->connect(handles).ok());
    ASSERT_TRUE(comesTrue([&] {
      const bool first = meshes_[0]->advance().take();
      return meshes_[1]->advance().take() && first;
    }));
    network::GpuMoverOptions options;
    options.path = network::GpuPath::Copy;
    options.memory = &region_;
    options.channel.blocks = 2;
    for (auto &mover : movers_)
      mover = network::GpuMover::create(network::gpuPlatform(), 0, options).take();
  }

  GpuRegion region_;
  std::unique_ptr<GpuMemory> memory_;
  net::test::FlakyTransport transport_{net::createLoopbackTransport().take(), 1};
  std::array<std::unique_ptr<network::Mesh>, 2> meshes_;
  std::array<std::unique_ptr<network::GpuMover>, 2> movers_;
};

} // namespace

TEST_P(GpuDetours, EachLaneEndsWithoutRoomInTheTransport) {
  constexpr int64_t kAll = kMessages * kBytes;
  char *source = movers_[0]->allocate(kAll).take();
  char *target = movers_[1]->allocate(kAll + 2 * kGuard).take();
  std::vector<char> data(kAll), got(kAll + 2 * kGuard);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i * 7 + i / 4096 + 1);
  ASSERT_TRUE(movers_[0]->write(source, data.data(), kAll).ok());
  ASSERT_TRUE(movers_[1]->zero(target, kAll + 2 * kGuard).ok());
  {
    const uint64_t tag = network::callTag(1, 1);
    network::Schedule out(*meshes_[0], *movers_[0], tag), in(*meshes_[1], *movers_[1], tag);
    for (int i = 0; i < kMessages; ++i) {
      const uint32_t label = static_cast<uint32_t>(i % 2); // two lanes
      out.send(1, label, source + i * kBytes, kBytes);
      in.recv(0, label, target + kGuard + i * kBytes, kBytes);
    }
    EXPECT_TRUE(comesTrue([&] {
      bool moved = false, areOver = true;
      int failedPeer = -1;
      for (network::Schedule *schedule : {&out, &in}) {
        Result<bool> isOver = schedule->run(moved, failedPeer);
        EXPECT_TRUE(isOver.ok()) << isOver.status().toString();
        areOver = (!isOver || *isOver) && areOver;
      }
      return areOver;
    }));
    for (const auto &mesh : meshes_)
      mesh->close(); // requests in flight use the buffers
  }
  ASSERT_TRUE(movers_[1]->read(got.data(), target, kAll + 2 * kGuard).ok());
  EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin() + kGuard));
  EXPECT_EQ(std::string(got.data(), kGuard), std::string(kGuard, 0));
  EXPECT_EQ(std::string(got.end() - kGuard, got.end()), std::string(kGuard, 0));
  movers_[0]->release(source);
  movers_[1]->release(target);
}

INSTANTIATE_TEST_SUITE_P(fake, GpuDetours, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(gpu, GpuDetours, testing::Values("gpu"));

} // namespace coll::rt::test
