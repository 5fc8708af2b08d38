//===- contents.h - the contents of a report ---------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_CONTENTS_H
#define COLL_DRIVER_REPORT_CONTENTS_H

#include "driver/check.h"
#include "driver/report/recorder.h"
#include "plan/schedule/pipeline.h"
#include "runtime/program/program.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coll::run {

using NamedText = std::pair<std::string, std::string>;

/// A scalar that the step returns.
struct ScalarOutput {
  std::string name;
  bool isLoss = false;
  std::vector<double> values; // one per step
};

struct CheckTable {
  std::string title;
  bool isRms = false; // what `relative` means
  std::vector<Comparison> comparisons;
};

/// Stopped: by the user, who has what was trained so far.
enum class Outcome { Unfinished, Failed, Stopped, Finished };

/// One run. Whatever is not known yet, or never will be, is empty.
struct ReportContents {
  std::string step; // the file
  std::string commandLine;
  std::string backend;
  std::string launcher; // empty: all ranks are threads of one process
  int numRanks = 0;     // 0: not known
  std::string version;
  std::string started;                // date and time
  std::vector<NamedText> machine;     // of the process that writes
  std::vector<NamedText> environment; // COLL_* variables that are set, but for the secret
  int cores = 0;

  Outcome outcome = Outcome::Unfinished;
  std::string error;
  std::vector<std::string> diagnostics; // of the compiler
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, double>> phases; // name and seconds

  int64_t plannedSteps = 0;
  std::vector<ScalarOutput> outputs;
  std::vector<double> stepSeconds; // as the host waits for them

  std::optional<plan::Pipeline> pipeline; // where the step is cut into stages
  std::vector<rt::Descriptor> classes;
  std::vector<RankRecord> ranks; // those that are known, ascending
  std::vector<CheckTable> checks;
  NamedText accuracy; // on held-out data: "98.9 %", "353 of 357"

  /// The class of a rank, or -1.
  int classOf(int rank) const {
    for (size_t c = 0; c < classes.size(); ++c)
      if (classes[c].hasRank(rank))
        return static_cast<int>(c);
    return -1;
  }
};

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_CONTENTS_H
