#include "test/kernels/moe/moe_team.h"

#include "runtime/kernels/error_word.h"
#include "test/support/emulation/moe.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace coll::kernels::test {

namespace {

constexpr uint64_t kAlignment = 512;
constexpr char kJunk = 0x5a;

rt::Result<simt::Grid> emulated(const PeerGroup &group, const MoeLaunch &launch) {
  if (const auto *layout = std::get_if<MoeLayoutArgs>(&launch))
    return emulatedMoeLayout(*layout);
  if (const auto *notify = std::get_if<MoeNotifyArgs>(&launch))
    return emulatedMoeNotify(group, *notify);
  if (const auto *dispatch = std::get_if<MoeDispatchArgs>(&launch))
    return emulatedMoeDispatch(group, *dispatch);
  if (const auto *dispatch = std::get_if<LowLatencyDispatchArgs>(&launch))
    return emulatedLowLatencyDispatch(group, *dispatch);
  if (const auto *combine = std::get_if<LowLatencyCombineArgs>(&launch))
    return emulatedLowLatencyCombine(group, *combine);
  if (const auto *gather = std::get_if<MoeGatherArgs>(&launch))
    return emulatedMoeGather(*gather);
  if (const auto *merge = std::get_if<MoeMergeArgs>(&launch))
    return emulatedMoeMerge(*merge);
  return emulatedMoeCombine(group, std::get<MoeCombineArgs>(launch));
}

rt::Status start(const PeerGroup &group, const MoeLaunch &launch, void *stream) {
  if (const auto *layout = std::get_if<MoeLayoutArgs>(&launch))
    return launchMoeLayout(*layout, stream);
  if (const auto *notify = std::get_if<MoeNotifyArgs>(&launch))
    return launchMoeNotify(group, *notify, stream);
  if (const auto *dispatch = std::get_if<MoeDispatchArgs>(&launch))
    return launchMoeDispatch(group, *dispatch, stream);
  if (const auto *dispatch = std::get_if<LowLatencyDispatchArgs>(&launch))
    return launchLowLatencyDispatch(group, *dispatch, stream);
  if (const auto *combine = std::get_if<LowLatencyCombineArgs>(&launch))
    return launchLowLatencyCombine(group, *combine, stream);
  if (const auto *gather = std::get_if<MoeGatherArgs>(&launch))
    return launchMoeGather(*gather, stream);
  if (const auto *merge = std::get_if<MoeMergeArgs>(&launch))
    return launchMoeMerge(*merge, stream);
  return launchMoeCombine(group, std::get<MoeCombineArgs>(launch), stream);
}

[[noreturn]] void bug(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

} // namespace

MoeTeam::MoeTeam(PeerRig &rig, uint32_t size, uint64_t arenaBytes, uint64_t timeoutNs,
                 uint32_t nodeSize)
    : rig_(rig), nodeSize_(nodeSize), arenaBytes_(arenaBytes) {
  for (uint32_t first = 0; first < size; first += nodeSize) {
    PeerGroup group;
    group.size = std::min(nodeSize, size - first);
    group.timeoutNs = timeoutNs;
    group.layout =
        workspaceLayout(group.size, {kAlignment * group.size, 32, 2 * 4608 * group.size, 2});
    for (uint32_t i = 0; i < group.size; ++i) {
      group.workspace[i] = rig.device(first + i, group.layout.bytes);
      arenas_.push_back(rig.device(first + i, arenaBytes));
    }
    for (group.rank = 0; group.rank < group.size; ++group.rank) {
      group.control = rig.control();
      groups_.push_back(group);
      counters_.push_back(static_cast<MoeCounters *>(rig.pinned(sizeof(MoeCounters))));
    }
  }
  clear();
  reset();
}

void MoeTeam::reset() {
  for (uint32_t i = 0; i < size(); ++i) {
    const PeerGroup &group = groups_[i];
    *group.control = {};
    rig_.initWorkspace(group);
    if (!rig_.isEmulated())
      for (auto *rehearse : {rehearseMoeKernels, rehearseLowLatencyKernels})
        if (rt::Status status = rehearse(group, rig_.enter(i)); !status.ok())
          bug(status.toString());
  }
  rig_.settle();
}

uint64_t MoeTeam::take(uint32_t member, uint64_t bytes) {
  const uint64_t place = used_[member];
  const uint64_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (place + whole > arenaBytes_)
    bug("the arena of the tests is too small");
  used_[member] += whole;
  rig_.fill(at(member, place), kJunk, whole);
  return place;
}

uint64_t MoeTeam::take(uint64_t bytes) {
  const uint64_t place = *std::max_element(used_.begin(), used_.end());
  for (uint32_t i = 0; i < size(); ++i) {
    used_[i] = place;
    (void)take(i, bytes);
  }
  return place;
}

rt::Status MoeTeam::run(const std::vector<std::vector<MoeLaunch>> &launches, uint64_t seed) {
  rig_.settle();
  if (rig_.isEmulated()) {
    std::vector<std::vector<simt::Grid>> grids(launches.size());
    for (uint32_t i = 0; i < launches.size(); ++i)
      for (const MoeLaunch &launch : launches[i]) {
        rt::Result<simt::Grid> grid = emulated(groups_[i], launch);
        if (!grid.ok())
          return grid.status();
        grids[i].push_back(grid.take());
      }
    simt::runBeside(grids, seed);
    return {};
  }
  rt::Status outcome;
  for (uint32_t i = 0; i < launches.size(); ++i)
    for (const MoeLaunch &launch : launches[i])
      if (rt::Status status = start(groups_[i], launch, rig_.enter(i));
          !status.ok() && outcome.ok())
        outcome = status;
  rig_.settle();
  return outcome;
}

void expectFailure(const MoeTeam &team, const std::vector<uint32_t> &members,
                   const std::string &why) {
  std::string errors;
  for (uint32_t member : members) {
    EXPECT_NE(team.error(member), 0u) << "member " << member;
    errors += describeErrorWord(team.error(member)) + "; ";
  }
  EXPECT_NE(errors.find(why), std::string::npos) << errors;
}

} // namespace coll::kernels::test
