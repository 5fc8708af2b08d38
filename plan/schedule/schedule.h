// schedule.h - the order in which the ranks of a pipeline work on chunks and micro-batches.
//
// A step is cut into chunks, each a run of layers. A pipeline rank holds one chunk or several. A
// schedule is the order in which each rank does its entries; an entry waits for what it needs from
// other ranks. The names and formulas are those of the papers:
//   gpipe        Huang et al. 2019      1f1b         Narayanan et al. 2019 (PipeDream-Flush)
//   interleaved  Narayanan et al. 2021  zb-h1, zb-h2 Qi et al. 2023 (Zero Bubble)
//   zbv          Qi et al. 2024         dualpipev    DeepSeek-AI 2025 (DualPipe, cut in half)

#ifndef COLL_PLAN_SCHEDULE_SCHEDULE_H
#define COLL_PLAN_SCHEDULE_SCHEDULE_H

#include "plan/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coll::plan {

// A backward pass is one entry, or two: the gradients that other chunks wait for, then those of the
// chunk's own weights.
enum class StageWork : uint8_t { Forward, Backward, InputGradient, WeightGradient };

struct ScheduleEntry {
  StageWork work = StageWork::Forward;
  int chunk = 0;
  int microBatch = 0;

  bool operator==(const ScheduleEntry &other) const {
    return work == other.work && chunk == other.chunk && microBatch == other.microBatch;
  }
};

// "F0.3": the forward pass of chunk 0 on micro-batch 3; B, I and W likewise.
std::string toString(const ScheduleEntry &entry);

struct Schedule {
  std::string name;
  int numChunks = 0;
  int numMicroBatches = 0;
  std::vector<std::vector<ScheduleEntry>> ranks; // entries in order
  std::vector<int> rankOfChunk;
  // Limits that a table file sets; 0 is none: micro-batches whose activations a rank may keep at
  // once, times chunks; and transfers that may be in flight between two chunks.
  int maxActivations = 0;
  int maxInFlight = 0;

  int numRanks() const { return static_cast<int>(ranks.size()); }
};

// "gpipe, 1f1b, …": for messages.
std::string scheduleNames();

// Whether a schedule is the path of a table file instead of a name: it has a slash or ends in
// ".txt".
bool isTableFile(std::string_view schedule);

// A schedule by its name; `interleaved:3` holds three chunks a rank, 2 without a number.
Result<Schedule> makeSchedule(std::string_view name, int numRanks, int numMicroBatches);

// A table, checked. `file` is for messages. Lines are
//   rank 0: F0.0 F0.1 B0.0 B0.1      the entries of a rank, in order
//   activations 4                    limits, which may be left out
//   in-flight 2
// Text after a # is a comment.
Result<Schedule> parseSchedule(std::string_view text, const std::string &file, int numRanks,
                               int numMicroBatches);

struct ScheduleFault {
  int rank = -1;    // whose entries have to be changed
  std::string text; // empty: there is none
};

// What is wrong with a schedule: an entry that is missing, doubled or misplaced, one that exceeds a
// limit, or entries that wait for one another.
ScheduleFault findFault(const Schedule &schedule);

} // namespace coll::plan

#endif // COLL_PLAN_SCHEDULE_SCHEDULE_H
