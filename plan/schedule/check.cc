// Faults of schedules (findFault).

#include "plan/schedule/progress.h"
#include "plan/schedule/schedule.h"

#include <map>

namespace coll::plan {

namespace {

std::string place(int rank, size_t index) {
  return "entry " + std::to_string(index + 1) + " of rank " + std::to_string(rank);
}

// Counts the passes of every chunk on every micro-batch.
class Inventory {
public:
  explicit Inventory(const Schedule &schedule) : schedule_(schedule) {}

  ScheduleFault findFault() {
    for (int rank = 0; rank < schedule_.numRanks(); ++rank)
      for (size_t i = 0; i < schedule_.ranks[rank].size(); ++i)
        if (std::string fault = add(rank, i); !fault.empty())
          return {rank, fault};
    for (int chunk = 0; chunk < schedule_.numChunks; ++chunk)
      for (int batch = 0; batch < schedule_.numMicroBatches; ++batch)
        if (std::string fault = findMissing(chunk, batch); !fault.empty())
          return {schedule_.rankOfChunk[chunk], fault};
    return {};
  }

private:
  std::string add(int rank, size_t index) {
    const ScheduleEntry &entry = schedule_.ranks[rank][index];
    const std::string what = toString(entry) + ", " + place(rank, index) + ", ";
    if (entry.chunk < 0 || entry.chunk >= schedule_.numChunks)
      return what + "names a chunk that no rank has; there are " +
             std::to_string(schedule_.numChunks);
    if (schedule_.rankOfChunk[entry.chunk] != rank)
      return what + "is work of chunk " + std::to_string(entry.chunk) + ", which rank " +
             std::to_string(schedule_.rankOfChunk[entry.chunk]) + " has; move it there";
    if (entry.microBatch < 0 || entry.microBatch >= schedule_.numMicroBatches)
      return what + "names a micro-batch that is not there; there are " +
             std::to_string(schedule_.numMicroBatches);
    auto [seen, isNew] = seen_.try_emplace(keyOf(entry, entry.work), index);
    if (!isNew)
      return what + "is there already: " + place(rank, seen->second) + "; leave one out";
    if (entry.work == StageWork::Backward || entry.work == StageWork::InputGradient) {
      const StageWork other =
          entry.work == StageWork::Backward ? StageWork::InputGradient : StageWork::Backward;
      if (seen_.count(keyOf(entry, other)))
        return what + "is a backward pass that is there already; leave one out";
    }
    return "";
  }

  std::string findMissing(int chunk, int batch) const {
    auto has = [&](StageWork work) {
      return seen_.count({static_cast<int>(work), chunk, batch}) > 0;
    };
    auto missing = [&](StageWork work) {
      return "rank " + std::to_string(schedule_.rankOfChunk[chunk]) + " lacks entry " +
             toString({work, chunk, batch});
    };
    if (!has(StageWork::Forward))
      return missing(StageWork::Forward) + "; add it";
    if (!has(StageWork::Backward) && !has(StageWork::InputGradient))
      return missing(StageWork::Backward) + "; add it, or I and W";
    if (has(StageWork::InputGradient) && !has(StageWork::WeightGradient))
      return missing(StageWork::WeightGradient) + "; add it behind the I";
    if (has(StageWork::Backward) && has(StageWork::WeightGradient))
      return "rank " + std::to_string(schedule_.rankOfChunk[chunk]) + " has " +
             toString({StageWork::Backward, chunk, batch}) + " and " +
             toString({StageWork::WeightGradient, chunk, batch}) +
             ", which is a part of it; use I and W, or B";
    return "";
  }

  using Key = std::tuple<int, int, int>;
  static Key keyOf(const ScheduleEntry &entry, StageWork work) {
    return {static_cast<int>(work), entry.chunk, entry.microBatch};
  }

  const Schedule &schedule_;
  std::map<Key, size_t> seen_;
};

ScheduleFault findOverrun(const Schedule &schedule) {
  if (schedule.maxActivations == 0)
    return {};
  for (int rank = 0; rank < schedule.numRanks(); ++rank) {
    int kept = 0;
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i) {
      const ScheduleEntry &entry = schedule.ranks[rank][i];
      kept += entry.work == StageWork::Forward;
      if (kept > schedule.maxActivations)
        return {rank, toString(entry) + ", " + place(rank, i) + ", exceeds the limit of " +
                          std::to_string(schedule.maxActivations) +
                          " activations; move a B or W before it, or raise the limit"};
      kept -= entry.work == StageWork::Backward || entry.work == StageWork::WeightGradient;
    }
  }
  return {};
}

// The cycle of entries that wait for one another.
ScheduleFault findDeadlock(const Schedule &schedule) {
  ScheduleProgress progress(schedule);
  if (progress.run([](int, const ScheduleEntry &, double) { return TimeRange(); }))
    return {};
  int rank = 0;
  while (!progress.nextOf(rank))
    ++rank;
  // Each rank waits for an entry of another rank or for a later one of its own, so after as many
  // steps as there are ranks the walk is on the cycle.
  std::string text, change;
  int first = -1, changed = -1;
  for (int step = 0; step <= 2 * schedule.numRanks() && rank != first; ++step) {
    const ScheduleEntry &entry = *progress.nextOf(rank);
    const ScheduleEntry blocker = *progress.blockerOf(entry);
    if (step == schedule.numRanks())
      first = rank;
    rank = schedule.rankOfChunk[blocker.chunk];
    if (first >= 0 && changed < 0) {
      changed = rank;
      change = "put " + toString(blocker) + " before " + toString(*progress.nextOf(rank)) +
               " of rank " + std::to_string(rank);
    }
    if (first >= 0)
      text += (text.empty() ? "" : "; ") + toString(entry) + " of rank " +
              std::to_string(schedule.rankOfChunk[entry.chunk]) + " waits for " +
              toString(blocker) + " of rank " + std::to_string(rank);
  }
  const bool isBounded = schedule.maxInFlight > 0;
  if (isBounded)
    text += ", with at most " + std::to_string(schedule.maxInFlight) +
            " transfers in flight between two chunks";
  return {changed, "entries wait for one another: " + text + "; " + change +
                       (isBounded ? ", or raise in-flight" : "")};
}

} // namespace

ScheduleFault findFault(const Schedule &schedule) {
  if (ScheduleFault fault = Inventory(schedule).findFault(); !fault.text.empty())
    return fault;
  if (ScheduleFault fault = findOverrun(schedule); !fault.text.empty())
    return fault;
  return findDeadlock(schedule);
}

} // namespace coll::plan
