#include "test/kernels/moe_team.h"

#include "runtime/kernels/error_word.h"
#include "runtime/kernels/moe_emulation.h"

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
  return launchMoeCombine(group, std::get<MoeCombineArgs>(launch), stream);
}

[[noreturn]] void bug(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

} // namespace

MoeTeam::MoeTeam(PeerRig &rig, uint32_t size, uint64_t arenaBytes, uint64_t timeoutNs)
    : rig_(rig), arenaBytes_(arenaBytes) {
  PeerGroup group;
  group.size = size;
  group.timeoutNs = timeoutNs;
  group.layout = workspaceLayout(size, {kAlignment * size, 32, 2 * 4608 * size, 2});
  for (uint32_t i = 0; i < size; ++i) {
    group.workspace[i] = rig.device(i, group.layout.bytes);
    arenas_.push_back(rig.device(i, arenaBytes));
  }
  for (uint32_t i = 0; i < size; ++i) {
    group.rank = i;
    group.control = rig.control();
    groups_.push_back(group);
    counters_.push_back(static_cast<MoeCounters *>(rig.pinned(sizeof(MoeCounters))));
  }
  clear();
  reset();
}

void MoeTeam::reset() {
  for (const PeerGroup &group : groups_) {
    *group.control = {};
    rig_.initWorkspace(group);
    if (!rig_.isEmulated())
      for (auto *rehearse : {rehearseMoeKernels, rehearseLowLatencyKernels})
        if (rt::Status status = rehearse(group, rig_.enter(group.rank)); !status.ok())
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
