// world.h - the state that all ranks of the threads backend share.

#ifndef COLL_RUNTIME_BACKEND_THREADS_WORLD_H
#define COLL_RUNTIME_BACKEND_THREADS_WORLD_H

#include "runtime/backend/backend.h"
#include "runtime/base/parker.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace coll::rt::threads {

class Group;

// The state of one rank that the others read.
struct alignas(64) RankState {
  Parker parker;
  // Between enter() and leave(): it may still make calls.
  std::atomic<bool> present{false};

  // What blocks the rank, for other ranks' messages.
  std::mutex mutex;
  std::optional<Call> blockedIn;
};

class World {
public:
  explicit World(const BackendOptions &options);
  ~World();

  int numRanks() const { return options_.numRanks; }
  int64_t timeoutUs() const { return options_.timeoutUs; }
  RankState &rank(int rank) { return ranks_[static_cast<size_t>(rank)]; }

  // The group of these ranks: the same object for all members. Any thread may call it.
  Group &group(const std::vector<int> &ranks);

  // Ends the job; only the first cause is kept. Any thread may call it.
  void abort(const Status &cause);
  bool aborted() const { return aborted_.load(std::memory_order_acquire); }
  // The first cause, if aborted().
  Status cause();

  void wakeAll();

  // How long a rank polls before it sleeps; where that was of no use lately; and whether it may
  // poll without yielding because every rank has a core.
  int64_t spinUs() const { return spinUs_; }
  int64_t earlySpinUs() const { return earlySpinUs_; }
  bool coreForEachRank() const { return options_.numRanks <= numCores_; }
  // Cores that this process may use.
  int numCores() const { return numCores_; }

private:
  BackendOptions options_;
  int numCores_;
  int64_t earlySpinUs_, spinUs_;
  std::vector<RankState> ranks_;

  std::mutex groupsMutex_;
  std::map<std::vector<int>, std::unique_ptr<Group>> groups_;

  std::atomic<bool> aborted_{false};
  std::mutex causeMutex_;
  Status cause_;
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_WORLD_H
