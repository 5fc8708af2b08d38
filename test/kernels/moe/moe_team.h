// moe_team.h - members of a peer group that exchange tokens, for the tests: emulated, or on GPUs.

#ifndef COLL_TEST_KERNELS_MOE_TEAM_H
#define COLL_TEST_KERNELS_MOE_TEAM_H

#include "runtime/base/env.h"
#include "runtime/kernels/moe/low_latency.h"
#include "runtime/kernels/moe/relay.h"
#include "test/exchange/moe_cases.h"
#include "test/kernels/peer/peer_rig.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace coll::kernels::test {

// One launch of a member.
using MoeLaunch =
    std::variant<MoeLayoutArgs, MoeNotifyArgs, MoeDispatchArgs, MoeCombineArgs,
                 LowLatencyDispatchArgs, LowLatencyCombineArgs, MoeGatherArgs, MoeMergeArgs>;

// A group with memory for calls, or, if members form nodes, one group for each node; the last node
// may have fewer members. clear() frees what a round has allocated.
class MoeTeam {
public:
  MoeTeam(PeerRig &rig, uint32_t size, uint64_t arenaBytes, uint64_t timeoutNs,
          uint32_t nodeSize = kMaxPeers);

  uint32_t size() const { return static_cast<uint32_t>(groups_.size()); }
  // The first member of the member's node.
  uint32_t firstOf(uint32_t member) const { return member / nodeSize_ * nodeSize_; }
  bool isFar(uint32_t member, uint32_t other) const { return firstOf(member) != firstOf(other); }
  PeerRig &rig() { return rig_; }
  const PeerGroup &group(uint32_t member) const { return groups_[member]; }
  uint64_t error(uint32_t member) const { return groups_[member].control->error; }
  MoeCounters *counters(uint32_t member) { return counters_[member]; }
  // Resets workspaces and error words to their initial state.
  void reset();
  void clear() { used_.assign(size(), 0); }

  // Allocates in a member's arena, at the same place in those of all; aligned to 512, filled with
  // junk.
  uint64_t take(uint32_t member, uint64_t bytes);
  uint64_t take(uint64_t bytes);
  char *at(uint32_t member, uint64_t place) const { return arenas_[member] + place; }
  template <typename T>
  T *put(uint32_t member, const std::vector<T> &values) {
    const uint64_t place = take(member, values.size() * sizeof(T));
    rig_.copyIn(at(member, place), values.data(), values.size() * sizeof(T));
    return reinterpret_cast<T *>(at(member, place));
  }
  template <typename T>
  T *room(uint32_t member, uint64_t count) {
    return reinterpret_cast<T *>(at(member, take(member, count * sizeof(T))));
  }
  template <typename T>
  std::vector<T> get(const void *from, uint64_t count) {
    std::vector<T> values(count);
    rig_.copyOut(values.data(), from, count * sizeof(T));
    return values;
  }

  // Runs all members' launches concurrently until they end; returns the first refusal, or ok.
  rt::Status run(const std::vector<std::vector<MoeLaunch>> &launches, uint64_t seed);

private:
  PeerRig &rig_;
  uint32_t nodeSize_;
  std::vector<PeerGroup> groups_; // by member
  std::vector<MoeCounters *> counters_;
  std::vector<char *> arenas_;
  uint64_t arenaBytes_;
  std::vector<uint64_t> used_; // of each arena
};

// Expects that all of these members have failed, and that one of them reports `why`; the others may
// have been told.
void expectFailure(const MoeTeam &team, const std::vector<uint32_t> &members,
                   const std::string &why);

// Its parameter is "host", where members are emulated, or "cuda".
class MoeRigTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    std::string whyNot;
    const bool onGpu = std::string(GetParam()) == "cuda";
    rig_ = onGpu ? makeGpuPeerRig(whyNot) : makeEmulatedPeerRig();
    if (!rig_)
      GTEST_SKIP() << whyNot;
    slow_ = rt::foreignEnv("COLL_TEST_SLOW").has_value();
  }
  bool onGpu() const { return !rig_->isEmulated(); }

  std::unique_ptr<PeerRig> rig_;
  bool slow_ = false;
};

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_MOE_TEAM_H
