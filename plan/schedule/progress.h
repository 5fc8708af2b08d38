// progress.h - runs a schedule as its ranks do: each rank in the order of its entries, and each
// entry as soon as the entries that it needs have run.

#ifndef COLL_PLAN_SCHEDULE_PROGRESS_H
#define COLL_PLAN_SCHEDULE_PROGRESS_H

#include "plan/schedule/schedule.h"

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace coll::plan {

struct TimeRange {
  double begin = 0;
  double end = 0;
  double made = 0; // when what other entries wait for is there
};

class ScheduleProgress {
public:
  // The schedule has every entry once. It is borrowed.
  explicit ScheduleProgress(const Schedule &schedule);

  // Calls visit(rank, entry, ready) -> TimeRange, where `ready` is the time from which the entry
  // can run. Returns false if no rank can continue before the end.
  template <typename Visit>
  bool run(Visit visit) {
    for (bool advances = true; advances;) {
      advances = false;
      for (int rank = 0; rank < schedule_.numRanks(); ++rank)
        while (const ScheduleEntry *entry = nextOf(rank)) {
          const std::optional<double> ready = readyAt(*entry);
          if (!ready)
            break;
          finish(rank, *entry, visit(rank, *entry, *ready));
          advances = true;
        }
    }
    return numLeft_ == 0;
  }

  // The entry that the rank waits at, or null at its end.
  const ScheduleEntry *nextOf(int rank) const;
  // An entry that has to run before this one can; nullopt where it can run.
  std::optional<ScheduleEntry> blockerOf(const ScheduleEntry &entry) const;

private:
  // Forward passes, backward passes (split or not) and weight gradients, of a chunk on a batch.
  using Key = std::tuple<int, int, int>;

  static Key keyOf(const ScheduleEntry &entry);
  // The entries that must have ended, and the one that must have begun: it frees a transfer's
  // buffer.
  std::vector<Key> needsOf(const ScheduleEntry &entry) const;
  std::optional<Key> makesRoomFor(const ScheduleEntry &entry) const;
  std::optional<double> readyAt(const ScheduleEntry &entry) const;
  void finish(int rank, const ScheduleEntry &entry, TimeRange when);

  const Schedule &schedule_;
  std::vector<size_t> next_;
  size_t numLeft_ = 0;
  std::map<Key, ScheduleEntry> entries_;
  std::map<std::pair<int, int>, std::vector<int>> batches_; // of a pass and chunk, in their order
  std::map<Key, TimeRange> done_;
};

} // namespace coll::plan

#endif // COLL_PLAN_SCHEDULE_PROGRESS_H
