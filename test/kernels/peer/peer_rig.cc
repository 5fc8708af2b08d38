#include "test/kernels/peer/peer_rig.h"

#include "test/support/emulation/peer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace coll::kernels::test {

namespace {

class EmulatedRig : public PeerRig {
public:
  char *device(uint32_t, size_t bytes) override {
    const size_t whole = (bytes + 511) / 512 * 512 + 512;
    memory_.emplace_back(static_cast<char *>(std::aligned_alloc(512, whole)));
    std::memset(memory_.back().get(), 0, whole);
    return memory_.back().get();
  }
  PeerControl *control() override {
    return reinterpret_cast<PeerControl *>(device(0, sizeof(PeerControl)));
  }
  void *pinned(size_t bytes) override { return device(0, bytes); }
  void recycle() override { memory_.clear(); }
  void copyIn(void *device, const void *from, size_t bytes) override {
    std::copy_n(static_cast<const char *>(from), bytes, static_cast<char *>(device));
  }
  void copyOut(void *to, const void *device, size_t bytes) override {
    std::copy_n(static_cast<const char *>(device), bytes, static_cast<char *>(to));
  }
  void fill(void *device, char with, size_t bytes) override {
    std::fill_n(static_cast<char *>(device), bytes, with);
  }
  void initWorkspace(const PeerGroup &group) override { emulateWorkspaceInit(group); }
  void run(const std::vector<PeerStream> &streams, uint64_t seed) override {
    std::vector<std::vector<simt::Grid>> grids;
    for (const PeerStream &stream : streams) {
      grids.emplace_back();
      for (const PeerPlan &plan : stream.plans)
        if (plan.kind != PeerPlan::Kind::Nothing)
          grids.back().push_back(emulatedGrid(stream.group, plan));
    }
    simt::runBeside(grids, seed);
  }
  void *enter(uint32_t) override { return nullptr; }
  void settle() override {}
  bool isEmulated() const override { return true; }
  uint32_t hostThreads() const override { return 1; }
  uint32_t maxBlocks(uint32_t) const override { return 0; }

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<char, Free>> memory_;
};

} // namespace

std::unique_ptr<PeerRig> makeEmulatedPeerRig() { return std::make_unique<EmulatedRig>(); }

#ifndef COLL_HAS_CUDA
std::unique_ptr<PeerRig> makeGpuPeerRig(std::string &whyNot) {
  whyNot = "built without CUDA";
  return nullptr;
}
#endif

} // namespace coll::kernels::test
