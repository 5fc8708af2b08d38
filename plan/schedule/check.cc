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

  std::string findFault() {
    for (int rank = 0; rank < schedule_.numRanks(); ++rank)
      for (size_t i = 0; i < schedule_.ranks[rank].size(); ++i)
        if (std::string fault = add(rank, i); !fault.empty())
          return fault;
    for (int chunk = 0; chunk < schedule_.numChunks; ++chunk)
      for (int batch = 0; batch < schedule_.numMicroBatches; ++batch)
        if (std::string fault = findMissing(chunk, batch); !fault.empty())
          return fault;
    return "";
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
             std::to_string(schedule_.rankOfChunk[entry.chunk]) + " has";
    if (entry.microBatch < 0 || entry.microBatch >= schedule_.numMicroBatches)
      return what + "names a micro-batch that is not there; there are " +
             std::to_string(schedule_.numMicroBatches);
    auto [seen, isNew] = seen_.try_emplace(keyOf(entry, entry.work), index);
    if (!isNew)
      return what + "is there already: " + place(rank, seen->second);
    if (entry.work == StageWork::Backward || entry.work == StageWork::InputGradient) {
      const StageWork other =
          entry.work == StageWork::Backward ? StageWork::InputGradient : StageWork::Backward;
      if (seen_.count(keyOf(entry, other)))
        return what + "is a backward pass that is there already";
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
      return missing(StageWork::Forward);
    if (!has(StageWork::Backward) && !has(StageWork::InputGradient))
      return missing(StageWork::Backward) + ", or I and W instead";
    if (has(StageWork::InputGradient) && !has(StageWork::WeightGradient))
      return missing(StageWork::WeightGradient);
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

std::string findOverrun(const Schedule &schedule) {
  if (schedule.maxActivations == 0)
    return "";
  for (int rank = 0; rank < schedule.numRanks(); ++rank) {
    int kept = 0;
    for (size_t i = 0; i < schedule.ranks[rank].size(); ++i) {
      const ScheduleEntry &entry = schedule.ranks[rank][i];
      kept += entry.work == StageWork::Forward;
      if (kept > schedule.maxActivations)
        return toString(entry) + ", " + place(rank, i) + ", exceeds the limit of " +
               std::to_string(schedule.maxActivations) +
               " activations; move a B or W before it, or raise the limit";
      kept -= entry.work == StageWork::Backward || entry.work == StageWork::WeightGradient;
    }
  }
  return "";
}

// The cycle of entries that wait for one another.
std::string findDeadlock(const Schedule &schedule) {
  ScheduleProgress progress(schedule);
  if (progress.run([](int, const ScheduleEntry &, double) { return TimeRange(); }))
    return "";
  int rank = 0;
  while (!progress.nextOf(rank))
    ++rank;
  // Each rank waits for an entry of another rank or for a later one of its own: after as many steps
  // as there are ranks, the walk is on the cycle.
  std::string text;
  int first = -1;
  for (int step = 0; step <= 2 * schedule.numRanks() && rank != first; ++step) {
    const ScheduleEntry &entry = *progress.nextOf(rank);
    const ScheduleEntry blocker = *progress.blockerOf(entry);
    if (step == schedule.numRanks())
      first = rank;
    rank = schedule.rankOfChunk[blocker.chunk];
    if (first >= 0)
      text += (text.empty() ? "" : "; ") + toString(entry) + " of rank " +
              std::to_string(schedule.rankOfChunk[entry.chunk]) + " waits for " +
              toString(blocker) + " of rank " + std::to_string(rank);
  }
  return "entries wait for one another: " + text +
         (schedule.maxInFlight > 0 ? ", with at most " + std::to_string(schedule.maxInFlight) +
                                         " transfers in flight between two chunks"
                                   : "");
}

} // namespace

std::string findFault(const Schedule &schedule) {
  if (std::string fault = Inventory(schedule).findFault(); !fault.empty())
    return fault;
  if (std::string fault = findOverrun(schedule); !fault.empty())
    return fault;
  return findDeadlock(schedule);
}

} // namespace coll::plan
