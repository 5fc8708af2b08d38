// options.h - the command line of coll-perf OP and coll-perf tune.

#ifndef COLL_TOOLS_COLL_PERF_OP_OPTIONS_H
#define COLL_TOOLS_COLL_PERF_OP_OPTIONS_H

#include "tools/coll-perf/op/nccl_tests.h"
#include "tools/coll-perf/op/team.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace coll::perf {

// The options as written by the user, before they are checked.
struct OpWords {
  std::string op = "all_reduce";
  OpPlan plan;
  std::string from = "8", to = "4M", step, backends = "threads,net", dtype = "f32",
              reduction = "sum", order = "any", inPlace = "no", timings = "eager";
  double timeoutSeconds = 60;
  bool noCheck = false;
  NcclTestsWords ncclTests;
};
void addOpOptions(CLI::App &app, OpWords &words);

struct OpSetup {
  OpPlan plan;
  std::vector<Side> sides;
};
Result<OpSetup> prepare(const OpWords &words);
// Expands the type or reduction "all" to one entry for each, or for each pair that is allowed.
Result<std::vector<OpWords>> expandAll(const OpWords &words);

// "a,b" -> {"a", "b"}
std::vector<std::string> splitWords(const std::string &text);

// Starts the sides that can run here; prints the reason for the others.
Result<std::vector<std::unique_ptr<Team>>> startTeams(const OpPlan &plan,
                                                      const std::vector<Side> &sides);
// Measures plan.repeat times. Returns the median of the slowest rank's time, and whether any
// element was wrong.
Result<OpFigure> measureMedian(const OpPlan &plan, Team &team, const Task &task);

// Returns the command line without the options for output files.
std::string shownCommand(int argc, char **argv);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_OPTIONS_H
