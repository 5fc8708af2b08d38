#include "test/kernels/channel/channel_rig.h"

#include "runtime/kernels/channel/channel.h"
#include "test/support/emulation/channel.h"

namespace coll::kernels::test {

using rt::Status;

namespace {

class EmulatedRig final : public ChannelRig {
public:
  Arena &arena() override { return arena_; }
  Status launch(const rt::ChannelLaunch &launch) override { return emulation_.launch(launch); }
  bool slow() const override { return true; }

private:
  HostArena arena_;
  ChannelEmulation emulation_{64}; // last: ends before the memory
};

class GpuRig final : public ChannelRig {
public:
  explicit GpuRig(std::unique_ptr<GpuArena> arena) : arena_(std::move(arena)) {}
  Arena &arena() override { return *arena_; }
  Status launch(const rt::ChannelLaunch &launch) override {
    return launchChannel(launch, arena_->stream());
  }
  bool slow() const override { return false; }

private:
  const std::unique_ptr<GpuArena> arena_;
};

} // namespace

std::unique_ptr<ChannelRig> makeEmulatedRig() { return std::make_unique<EmulatedRig>(); }

std::unique_ptr<ChannelRig> makeGpuRig(std::string &whyNot) {
  std::unique_ptr<GpuArena> arena = GpuArena::open(whyNot);
  if (!arena)
    return nullptr;
  if (const Status loaded = loadChannel(); !loaded.ok()) {
    whyNot = loaded.message();
    return nullptr;
  }
  return std::make_unique<GpuRig>(std::move(arena));
}

} // namespace coll::kernels::test
