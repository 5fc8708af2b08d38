#include "tools/coll-perf/op/options.h"

#include "runtime/base/dtype.h"
#include "tools/coll-perf/op/buffers.h"
#include "tools/coll-perf/units.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

namespace coll::perf {

std::vector<std::string> splitWords(const std::string &text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

static std::optional<CollReduction> parseReduction(const std::string &name) {
  for (int reduction = 0; reduction < rt::kNumReductions; ++reduction)
    if (name == rt::reductionName(reduction))
      return static_cast<CollReduction>(reduction);
  return std::nullopt;
}

// Unknown names pass here; they fail later with their own error.
static bool goTogether(const OpWords &words) {
  const std::optional<CollDtype> type = rt::parseDtype(words.dtype);
  const std::optional<CollReduction> reduction = parseReduction(words.reduction);
  return !hasReduction(words.op) || !type || !reduction || rt::reductionTakes(*reduction, *type);
}

void addOpOptions(CLI::App &app, OpWords &words) {
  const char *group = "What is measured";
  auto option = [&](const char *flags, auto &value, const char *help) {
    app.add_option(flags, value, help)->group(group)->capture_default_str();
  };
  option("-b,--from", words.from, "smallest size: 8, 64K, 1M");
  option("-e,--to", words.to, "largest size");
  option("-f,--factor", words.plan.factor, "factor from one size to the next");
  app.add_option("-i,--step", words.step,
                 "instead of the factor: bytes added to get the next size, such as 1M")
      ->group(group);
  option("--ranks", words.plan.ranks, "ranks of each backend");
  option(
      "-d,--dtype", words.dtype,
      "f32, f64, f16, bf16, f8e4m3fn, f8e5m2, i8, i16, i32, i64, u8, bool; all (except in tune)");
  option(
      "-o,--op", words.reduction,
      "for reductions: sum, prod, min, max, umin, umax, avg, and, or, xor; all (except in tune)");
  option("--scale", words.plan.scale, "for sums of floats: factor of each contribution");
  option("--order", words.order, "for sums: any, or rank (deterministic)");
  option("-r,--root", words.plan.root, "root of rooted operations");
  option("--optimizer", words.plan.optimizer,
         "for root_update: sgd, momentum, adam, adamw, lion, rmsprop");
  option("--in-place", words.inPlace, "no, yes or both: source and destination are one buffer");
  option("--timing", words.timings,
         "list of eager (one after the other), graph (all in a CUDA graph), latency (each alone)");
  group = "Where";
  option(
      "--backend", words.backends,
      "list, measured side by side; the others are compared with the first. Each may have :threads "
      "or :processes, :gpu or :host, :registered (the backend allocates the buffers) or :user (the "
      "user's buffers are registered), to differ from its defaults");
  group = "Accuracy";
  option("-n,--iterations", words.plan.iterations, "operations per figure");
  option("-w,--warmup", words.plan.warmup, "warm-up operations");
  option("--repeat", words.plan.repeat, "figures per size; the median counts");
  option("--timeout", words.timeoutSeconds, "seconds after which an operation fails");
  app.add_flag("--no-check", words.noCheck,
               "do not compare results on random data with the reference")
      ->group(group);
  addNcclTestsOptions(app, words);
}

Result<std::vector<OpWords>> expandAll(const OpWords &given) {
  Result<OpWords> words = inOurWords(given);
  if (!words.ok())
    return words.status();
  std::vector<std::string> types = {words->dtype}, reductions = {words->reduction};
  if (words->dtype == "all") {
    types.clear();
    for (int type = 0; type < rt::kNumDtypes; ++type)
      types.push_back(rt::dtypeName(type));
  }
  if (words->reduction == "all") {
    reductions.clear();
    for (int reduction = 0; reduction < rt::kNumReductions; ++reduction)
      reductions.push_back(rt::reductionName(reduction));
    if (!hasReduction(words->op))
      reductions.resize(1);
  }
  const bool isOne = types.size() * reductions.size() == 1;
  std::vector<OpWords> all;
  for (const std::string &type : types)
    for (const std::string &reduction : reductions) {
      OpWords one = *words;
      one.dtype = type;
      one.reduction = reduction;
      if (isOne || goTogether(one))
        all.push_back(one);
    }
  return all;
}

namespace {

Status parseSizesOf(const OpWords &words, OpPlan &plan) {
  Result<uint64_t> from = parseBytes(words.from), to = parseBytes(words.to);
  if (!from.ok())
    return from.status().annotate("-b");
  if (!to.ok())
    return to.status().annotate("-e");
  plan.fromBytes = *from;
  plan.toBytes = *to;
  if (words.step.empty())
    return {};
  Result<uint64_t> step = parseBytes(words.step);
  if (!step.ok())
    return step.status().annotate("-i");
  plan.stepBytes = *step;
  plan.factor = 0;
  return {};
}

Status parseArithmetic(const OpWords &words, OpPlan &plan) {
  std::optional<CollDtype> dtype = rt::parseDtype(words.dtype);
  if (!dtype)
    return Status::invalid("--dtype: unknown element type \"" + words.dtype + "\"");
  plan.dtype = *dtype;
  std::optional<CollReduction> reduction = parseReduction(words.reduction);
  if (!reduction)
    return Status::invalid("--op: unknown reduction \"" + words.reduction + "\"");
  plan.reduction = *reduction;
  if (words.order != "any" && words.order != "rank")
    return Status::invalid("--order has to be any or rank, not \"" + words.order + "\"");
  plan.order = words.order == "rank" ? kCollOrderRank : kCollOrderAny;
  return {};
}

Status parseWays(const OpWords &words, OpPlan &plan) {
  if (words.inPlace != "no" && words.inPlace != "yes" && words.inPlace != "both")
    return Status::invalid("--in-place has to be no, yes or both, not \"" + words.inPlace + "\"");
  plan.places.clear();
  if (words.inPlace != "yes")
    plan.places.push_back(Placement::Out);
  if (words.inPlace != "no")
    plan.places.push_back(Placement::In);
  if ((words.op == "send_recv" || words.op == "root_update") && words.inPlace != "no")
    return Status::invalid("--in-place: " + words.op + " has two buffers");
  plan.timings.clear();
  for (const std::string &name : splitWords(words.timings)) {
    bool known = false;
    for (Timing timing : {Timing::Eager, Timing::Graph, Timing::Latency})
      if (name == nameOf(timing)) {
        plan.timings.push_back(timing);
        known = true;
      }
    if (!known)
      return Status::invalid("--timing: \"" + name + "\" is none of eager, graph, latency");
  }
  return {};
}

// Adapts a side to the operation.
Status fit(const OpPlan &plan, Side &side) {
  const bool isUpdate = plan.op == "root_update";
  if (isUpdate && side.backend != "direct" && side.backend != "nccl")
    return Status::invalid("--backend of root_update has to be direct (one kernel), nccl "
                           "(all_reduce, then the optimizer) or nccl:sharded, not " +
                           side.label);
  if (side.sharded && !isUpdate)
    return Status::invalid("--backend: nccl:sharded is for root_update only");
  // Every root writes into the parameters of all members.
  if (isUpdate && side.backend == "direct" && side.registered == Registered::No)
    side.registered = Registered::Own;
  return {};
}

} // namespace

Result<OpSetup> prepare(const OpWords &given) {
  Result<OpWords> ours = inOurWords(given);
  if (!ours.ok())
    return ours.status();
  const OpWords &words = *ours;
  OpSetup setup;
  setup.plan = words.plan;
  setup.plan.op = words.op;
  setup.plan.check = !words.noCheck;
  COLL_RETURN_IF_ERROR(checkRange("--timeout", words.timeoutSeconds, 1e-6, 1e6));
  setup.plan.timeoutUs = static_cast<int64_t>(words.timeoutSeconds * 1e6);
  COLL_RETURN_IF_ERROR(parseSizesOf(words, setup.plan));
  COLL_RETURN_IF_ERROR(parseArithmetic(words, setup.plan));
  COLL_RETURN_IF_ERROR(parseWays(words, setup.plan));
  COLL_RETURN_IF_ERROR(check(setup.plan));
  for (const std::string &text : splitWords(words.backends)) {
    Result<Side> side = parseSide(text);
    if (!side.ok())
      return side.status().annotate("--backend");
    for (const Side &other : setup.sides)
      if (other.label == side->label)
        return Status::invalid("--backend names \"" + text + "\" twice");
    COLL_RETURN_IF_ERROR(fit(setup.plan, *side));
    setup.sides.push_back(*side);
  }
  return setup;
}

Result<std::vector<std::unique_ptr<Team>>> startTeams(const OpPlan &plan,
                                                      const std::vector<Side> &sides) {
  COLL_RETURN_IF_ERROR(checkHostRoom(plan, sides));
  std::vector<std::unique_ptr<Team>> teams;
  for (const Side &side : sides) {
    Result<std::unique_ptr<Team>> team = Team::start(plan, side);
    if (team.ok()) {
      teams.push_back(team.take());
      continue;
    }
    if (team.status().code() != kCollUnsupported)
      return team.status().annotate(side.label);
    std::printf("SKIPPED: %s: %s\n", side.label.c_str(), team.status().message().c_str());
  }
  return teams;
}

Result<OpFigure> measureMedian(const OpPlan &plan, Team &team, const Task &task) {
  std::vector<OpFigure> figures;
  int64_t wrong = -1;
  for (int turn = 0; turn < plan.repeat; ++turn) {
    Result<OpFigure> figure = team.measure(task);
    if (!figure.ok())
      return figure.status();
    wrong = std::max(wrong, figure->wrong);
    figures.push_back(*figure);
  }
  auto middle = figures.begin() + static_cast<ptrdiff_t>(figures.size() / 2);
  std::nth_element(figures.begin(), middle, figures.end(),
                   [](const OpFigure &a, const OpFigure &b) { return a.maxUs < b.maxUs; });
  middle->wrong = wrong;
  return *middle;
}

std::string shownCommand(int argc, char **argv) {
  std::string command = "coll-perf";
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.rfind("--json", 0) == 0 || word.rfind("--plot", 0) == 0)
      i += word.find('=') == std::string::npos ? 1 : 0;
    else
      command += " " + word;
  }
  return command;
}

} // namespace coll::perf
