// simulate.h - when the entries of a schedule run, and what the ranks keep meanwhile.

#ifndef COLL_PLAN_SCHEDULE_SIMULATE_H
#define COLL_PLAN_SCHEDULE_SIMULATE_H

#include "plan/schedule/schedule.h"

#include <optional>

namespace coll::plan {

// How long the work of a chunk takes, in any unit; a whole backward pass takes both parts.
struct WorkTimes {
  double forward = 1;
  double inputGradient = 1;
  double weightGradient = 1;

  double of(StageWork work) const;
};

// One entry in time.
struct ScheduleSpan {
  ScheduleEntry entry;
  double begin = 0;
  double end = 0;
};

struct Timeline {
  std::vector<std::vector<ScheduleSpan>> ranks;
  double makespan = 0;              // from the first entry of any rank to the last
  std::vector<double> bubble;       // of each rank: idle between its first entry and its last
  std::vector<int> peakActivations; // of each rank: micro-batches times chunks that it keeps

  // The longest bubble of a rank.
  double largestBubble() const;
  // Idle time of all ranks over all time, from the first entry of any rank to the last.
  double idleFraction() const;
};

// Transfers take no time. `times` has one entry for each chunk, or one for all. Nullopt if entries
// wait for one another, within the schedule's limit of transfers.
std::optional<Timeline> simulate(const Schedule &schedule, const std::vector<WorkTimes> &times);

// The fewest transfers in flight between two chunks with which the schedule ends as early as with
// any number of them, if all entries take the same time. It is enough both
// if gradients are sent at the end of a backward pass and if they are sent early (hand_on.h).
int neededInFlight(Schedule schedule);

// The bubble that the papers give for the schedule, if all chunks take the same time and there are
// enough micro-batches; nullopt if they give none.
std::optional<double> publishedBubble(const Schedule &schedule, const WorkTimes &times);
// The most activations of any rank, as above.
std::optional<int> publishedPeak(const Schedule &schedule);

// Ranks by rows, time by columns of `unit`, in entries such as F3; chunks after a rank's first are
// marked by apostrophes. Empty if it would be wider than `maxColumns`.
std::string drawTimeline(const Schedule &schedule, const Timeline &timeline, double unit,
                         size_t maxColumns);

} // namespace coll::plan

#endif // COLL_PLAN_SCHEDULE_SIMULATE_H
