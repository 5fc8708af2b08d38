#include "runtime/backend/threads/world.h"

#include "runtime/backend/threads/group.h"
#include "runtime/base/env.h"
#include "runtime/base/machine.h"

namespace coll::rt::threads {

namespace {

// Ranks do not come to a call together, and one that sleeps is late for the next.
constexpr int64_t kPatientSpinUs = 2000;

} // namespace

World::World(const BackendOptions &options)
    : options_(options), numCores_(numAllowedProcessors()), earlySpinUs_(envInt(EnvVar::SpinUs)),
      spinUs_(coreForEachRank() && !foreignEnv("COLL_SPIN_US") ? kPatientSpinUs : earlySpinUs_),
      ranks_(static_cast<size_t>(options.numRanks)) {}

World::~World() = default;

Group &World::group(const std::vector<int> &ranks) {
  std::lock_guard<std::mutex> lock(groupsMutex_);
  std::unique_ptr<Group> &group = groups_[ranks];
  if (!group)
    group = std::make_unique<Group>(*this, ranks);
  return *group;
}

void World::abort(const Status &cause) {
  {
    std::lock_guard<std::mutex> lock(causeMutex_);
    if (aborted())
      return;
    cause_ = cause;
    aborted_.store(true, std::memory_order_seq_cst);
  }
  wakeAll();
}

Status World::cause() {
  std::lock_guard<std::mutex> lock(causeMutex_);
  return cause_;
}

void World::wakeAll() {
  Parker::fence();
  for (RankState &rank : ranks_)
    rank.parker.unparkFenced();
}

} // namespace coll::rt::threads
