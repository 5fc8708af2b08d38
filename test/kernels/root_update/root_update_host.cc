// Members emulated on the host: one grid each, in a random order that a seed determines.

#include "test/kernels/root_update/root_update_rig.h"
#include "test/support/emulation/peer.h"
#include "test/support/emulation/root_update.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace coll::kernels::test {
namespace {

constexpr size_t kAlignment = 512;

class HostRig : public RootUpdateRig {
public:
  ~HostRig() override {
    for (char *memory : memory_)
      std::free(memory);
    for (void *memory : workspaces_)
      std::free(memory);
  }

  // Exactly the requested size, so that AddressSanitizer finds an access to the first byte beyond.
  char *allocate(uint32_t, size_t bytes) override {
    void *memory = nullptr;
    if (posix_memalign(&memory, kAlignment, bytes ? bytes : 1) != 0)
      std::abort();
    memory_.push_back(static_cast<char *>(memory));
    return memory_.back();
  }
  void copyIn(uint32_t, void *to, const void *from, size_t bytes) override {
    if (bytes != 0)
      std::memcpy(to, from, bytes);
  }
  void copyOut(uint32_t, void *to, const void *from, size_t bytes) override {
    copyIn(0, to, from, bytes);
  }

  std::vector<PeerGroup> makeGroup(uint32_t size, uint64_t timeoutNs) override {
    PeerGroup shared;
    shared.size = size;
    shared.timeoutNs = timeoutNs;
    shared.layout = workspaceLayout(size, {128 << 10, 4, 64 << 10, ++groups_ % 2 ? 2u : 3u});
    for (uint32_t r = 0; r < size; ++r) {
      // Zeroed, and in memory only where it is touched.
      workspaces_.push_back(std::calloc(shared.layout.bytes + kAlignment, 1));
      const auto address = reinterpret_cast<uintptr_t>(workspaces_.back());
      shared.workspace[r] =
          reinterpret_cast<char *>((address + kAlignment - 1) / kAlignment * kAlignment);
    }
    std::vector<PeerGroup> group;
    for (uint32_t r = 0; r < size; ++r) {
      shared.rank = r;
      shared.control = reinterpret_cast<PeerControl *>(allocate(r, sizeof(PeerControl)));
      *shared.control = {};
      emulateWorkspaceInit(shared);
      group.push_back(shared);
    }
    return group;
  }
  uint32_t maxBlocks(uint32_t) const override { return 3; }

  std::vector<rt::Status> run(const std::vector<PeerGroup> &group,
                              const std::vector<const RootUpdate *> &calls,
                              const std::vector<TestOptimizer> &optimizers,
                              const std::vector<Copy> &copies) override {
    std::vector<rt::Status> outcome;
    std::vector<std::vector<simt::Grid>> grids; // a stream a member
    for (size_t r = 0; r < calls.size(); ++r) {
      if (!calls[r])
        continue;
      rt::Result<simt::Grid> grid =
          gridOf(group[r], *calls[r], optimizers[std::min(r, optimizers.size() - 1)]);
      outcome.push_back(grid.status());
      if (!grid.ok())
        continue;
      grids.push_back({grid.take()});
      if (r < copies.size())
        grids.back().push_back({{1, simt::kWarpThreads, 0}, [copy = copies[r]](char *) {
                                  if (simt::threadIndex() == 0 && copy.bytes != 0)
                                    std::memcpy(copy.to, copy.from, copy.bytes);
                                }});
    }
    if (!grids.empty())
      simt::runBeside(grids, ++seed_);
    return outcome;
  }

  rt::Status nextStep(uint32_t, UpdateStep *step) override {
    root_update::nextStep(step);
    return rt::Status::okay();
  }
  int cases() const override { return 120; }

private:
  static rt::Result<simt::Grid> gridOf(const PeerGroup &group, const RootUpdate &call,
                                       const TestOptimizer &optimizer) {
    if (const auto *own = std::get_if<ClippedSgd>(&optimizer))
      return emulatedRootUpdate(group, call, *own);
    return emulatedRootUpdate(group, call, std::get<AnyOptimizer>(optimizer));
  }

  std::vector<char *> memory_;
  std::vector<void *> workspaces_;
  uint64_t seed_ = 0;
  uint32_t groups_ = 0;
};

RootUpdateRigResult makeHost() { return {std::make_unique<HostRig>(), ""}; }

COLL_ROOT_UPDATE_RIG(host, makeHost);

} // namespace
} // namespace coll::kernels::test
