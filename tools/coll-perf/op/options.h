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

// As they are written, before they are checked.
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
// Where the type or the reduction is "all": one for each, and for each pair that goes together.
Result<std::vector<OpWords>> expandAll(const OpWords &words);

// "a,b" -> {"a", "b"}
std::vector<std::string> splitWords(const std::string &text);

// The sides that can be run here; one that cannot is said on the screen.
Result<std::vector<std::unique_ptr<Team>>> startTeams(const OpPlan &plan,
                                                      const std::vector<Side> &sides);
// plan.repeat times; the median of the slowest rank's time counts, with any wrong element.
Result<OpFigure> measureMedian(const OpPlan &plan, Team &team, const Task &task);

// The command line, without where its rows and curves go.
std::string shownCommand(int argc, char **argv);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_OPTIONS_H
