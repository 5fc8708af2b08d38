// channel_fixture.h - a channel on a rig, with the host's side of it, and the fixture of its tests.

#ifndef COLL_TEST_KERNELS_CHANNEL_FIXTURE_H
#define COLL_TEST_KERNELS_CHANNEL_FIXTURE_H

#include "runtime/kernels/channel/port.h"
#include "test/kernels/channel/channel_rig.h"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace coll::kernels::test {

using rt::ChannelItem;
using rt::ChannelOp;
using rt::Status;
using Bytes = std::vector<uint8_t>;

inline constexpr uint64_t kPatientNs = 60'000'000'000;
inline constexpr auto kPatience = std::chrono::seconds(60);

class Channel {
public:
  Channel(ChannelRig &rig, uint32_t queues, uint32_t blocks, uint64_t idleTimeoutNs = kPatientNs)
      : rig_(rig),
        shared_(reinterpret_cast<rt::ChannelShared *>(rig.pinned(sizeof(rt::ChannelShared)))),
        port_(shared_, queues, blocks) {
    launch_.shared = shared_;
    launch_.state = reinterpret_cast<rt::ChannelState *>(rig.device(sizeof(rt::ChannelState)));
    launch_.numQueues = queues;
    launch_.blocksPerQueue = blocks;
    launch_.idleTimeoutNs = idleTimeoutNs;
  }
  ~Channel() {
    port_.abort();
    EXPECT_TRUE(waitFor([&] { return port_.hasExited(launch_.number); }));
  }

  ChannelPort &port() { return port_; }

  void launch(bool compress = false) {
    ++launch_.number;
    launch_.compress = compress;
    Status status = rig_.launch(launch_);
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  uint64_t post(const ChannelItem &item, uint32_t queue = 0, const void *const *sources = nullptr) {
    EXPECT_TRUE(waitFor([&] { return !port_.full(queue) || !port_.error().ok(); }));
    return port_.post(queue, item, sources);
  }
  void exit() {
    for (uint32_t queue = 0; queue < port_.numQueues(); ++queue)
      post(ChannelItem{}, queue);
  }
  bool drained() {
    return waitFor([&] {
      for (uint32_t queue = 0; queue < port_.numQueues(); ++queue)
        if (!port_.isIdle(queue))
          return !port_.error().ok();
      return true;
    });
  }
  bool exited() {
    return waitFor([&] { return port_.hasExited(launch_.number); });
  }
  template <typename Condition>
  bool waitFor(Condition &&condition) {
    auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end)
        return false;
      std::this_thread::yield();
    }
    return true;
  }

private:
  ChannelRig &rig_;
  rt::ChannelShared *shared_;
  ChannelPort port_;
  rt::ChannelLaunch launch_;
};

inline ChannelItem copyItem(void *dst, const void *src, uint64_t bytes) {
  ChannelItem item{};
  item.op = ChannelOp::Copy;
  item.dst = dst;
  item.src[0] = src;
  item.bytes = bytes;
  return item;
}

enum class Machine { Emulated, Gpu };

class ChannelTest : public testing::TestWithParam<Machine> {
protected:
  void SetUp() override {
    std::string whyNot;
    rig_ = GetParam() == Machine::Gpu ? makeGpuRig(whyNot) : makeEmulatedRig();
    if (!rig_)
      GTEST_SKIP() << whyNot;
  }

  Bytes read(const uint8_t *device, size_t bytes) {
    Bytes out(bytes);
    rig_->arena().copyOut(out.data(), device, bytes);
    return out;
  }

  std::unique_ptr<ChannelRig> rig_;
  std::mt19937 random_{7};
};

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_CHANNEL_FIXTURE_H
