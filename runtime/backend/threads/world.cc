#include "runtime/backend/threads/world.h"

#include "runtime/backend/threads/group.h"
#include "runtime/base/env.h"

#include <sched.h>

namespace coll::rt::threads {

namespace {

// Cores that this process may use.
int availableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

} // namespace

World::World(const BackendOptions &options)
    : options_(options), spinUs_(envInt(EnvVar::SpinUs)), numCores_(availableCores()),
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
