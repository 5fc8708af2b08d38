// coll-perf OP: measures a collective operation, or send_recv, on one or several backends side by
// side.

#include "tools/coll-perf/command.h"
#include "tools/coll-perf/op/options.h"
#include "tools/coll-perf/op/report.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/plot.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

namespace coll::perf {

namespace {

struct Words {
  OpWords op;
  std::string json, plot, command;
};

// Measures one task on every side.
Status measureTask(const OpPlan &plan, std::vector<std::unique_ptr<Team>> &teams, const Task &task,
                   OpReport &report) {
  for (std::unique_ptr<Team> &team : teams) {
    Result<OpFigure> figure = measureMedian(plan, *team, task);
    if (figure.ok())
      report.add({team->side(), task, *figure});
    else if (figure.status().code() != kCollUnsupported)
      return figure.status().annotate(team->side().label);
    else if (task.bytes == plan.fromBytes)
      std::printf("SKIPPED: %s, %s: %s\n", team->side().label.c_str(), nameOf(task.timing),
                  figure.status().message().c_str());
  }
  return report.writeRows();
}

Status sweep(const OpPlan &plan, std::vector<std::unique_ptr<Team>> &teams, OpReport &report) {
  for (Timing timing : plan.timings)
    for (Placement place : plan.places)
      for (uint64_t bytes : plan.sizes())
        COLL_RETURN_IF_ERROR(measureTask(plan, teams, {bytes, place, timing}, report));
  return {};
}

// Measures one type and one reduction.
int runOne(const Words &words, const OpWords &op) {
  Result<OpSetup> setup = prepare(op);
  if (!setup.ok())
    return fail(setup.status());
  const OpPlan &plan = setup->plan;
  Result<std::vector<std::unique_ptr<Team>>> teams = startTeams(plan, setup->sides);
  if (!teams.ok())
    return fail(teams.status());
  if (teams->empty())
    return kSkipped;
  std::vector<Side> sides;
  for (std::unique_ptr<Team> &team : *teams)
    sides.push_back(team->side());
  OpReport report(plan, sides, words.json, words.command);
  if (Status swept = sweep(plan, *teams, report); !swept.ok())
    return fail(swept);
  if (!words.plot.empty())
    if (Status written = report.writePlot(words.plot); !written.ok())
      return fail(written);
  if (report.hasWrong())
    return fail(Status(kCollInternal, "results are wrong"));
  return report.isEmpty() ? kSkipped : 0;
}

int runOp(const Words &words) {
  Result<std::vector<OpWords>> all = expandAll(words.op);
  if (!all.ok())
    return fail(all.status());
  if (all->size() > 1 && !words.plot.empty())
    return fail(Status::invalid("--plot draws one type and one reduction, not all"));
  int code = kSkipped;
  for (const OpWords &op : *all) {
    const int one = runOne(words, op);
    if (one != 0 && one != kSkipped)
      return one;
    code = std::min(code, one);
  }
  return code;
}

} // namespace

std::vector<Command> addOps(CLI::App &app, int argc, char **argv) {
  std::vector<Command> commands;
  for (const std::string &name : opNames()) {
    auto words = std::make_shared<Words>();
    words->op.op = name;
    words->command = shownCommand(argc, argv);
    CLI::App *op = app.add_subcommand(
        name, name == "send_recv" ? "each rank sends to the next and receives from the previous one"
              : name == "root_update"
                  ? "an optimizer's step, compared with all_reduce followed by the optimizer"
                  : "the collective " + name);
    op->group("Operations (one --help for all)");
    op->footer(
        "Sizes, columns and bandwidths are those of nccl-tests: a size is that of the larger\n"
        "buffer; algbw = size / time of the slowest rank; busbw = algbw times the share that each\n"
        "link has to carry. ratio: this backend's time divided by that of the first backend.\n\n"
        "Examples:\n"
        "  coll-perf all_reduce -b 8 -e 64M --ranks=4 --backend=threads,net\n"
        "  coll-perf all_gather --backend=nccl,nccl:registered --timing=graph,eager --plot=a.svg\n"
        "  coll-perf reduce_scatter -b 1K -e 1G -f 4 --dtype=bf16 --in-place=both "
        "--json=rows.jsonl");
    addOpOptions(*op, words->op);
    op->add_option("--json", words->json, "append rows to this file")
        ->group("Output")
        ->check(whyNotWritable);
    op->add_option("--plot", words->plot, kPlotHelp)->group("Output")->check(whyNotPlottable);
    commands.push_back({op, [words] { return runOp(*words); }});
  }
  return commands;
}

} // namespace coll::perf
