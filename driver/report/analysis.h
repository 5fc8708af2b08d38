//===- analysis.h - the records of all ranks, combined -----------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_ANALYSIS_H
#define COLL_DRIVER_REPORT_ANALYSIS_H

#include "driver/report/contents.h"
#include "runtime/step/rank_memory.h"

#include <optional>

namespace coll::run {

/// Time of one call on several ranks, in nanoseconds: the mean over a rank's calls, the
/// first step's left out where there are others.
struct Spread {
  double min = 0, median = 0, max = 0;
  int minRank = -1, maxRank = -1;
};

/// One communication operation of the program, on all ranks that run it.
struct OperationRow {
  rt::OpInfo info;         // of the first class that has it
  rt::GroupLists groups;   // who talks to whom
  int numRanks = 0;        // whose class has it
  double callsPerStep = 0; // per rank that has it; of @init, calls
  double bytesPerCall = 0; // of the larger side
  double bytesPerStep = 0;
  double payloadPerStep = 0; // that a rank hands to the runtime, on average
  std::optional<Spread> time;
  double blockedShare = 0; // of the time of all ranks' steps
};

/// One rank's steps, in nanoseconds per step; the first step is left out where it can be.
struct RankSummary {
  int rank = 0;
  int classIndex = -1;
  const RankRecord *record = nullptr; // null: not known
  rt::RankMemory memory;
  int64_t steps = 0;
  double computeNs = 0, blockedNs = 0;

  double stepNs() const { return computeNs + blockedNs; }
};

struct Analysis {
  std::vector<OperationRow> rows;         // the step's in program order, then those of @init
  std::vector<std::vector<size_t>> rowOf; // by class and op
  std::vector<RankSummary> ranks;         // all of the program's
  std::optional<size_t> slowest; // the rank that computes longest; none if ranks do not differ
  double meanStepNs = 0, meanBlockedNs = 0;
};

/// `contents` must outlive the analysis.
Analysis analyse(const ReportContents &contents);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_ANALYSIS_H
