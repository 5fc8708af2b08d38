// coll-perf moe: the token exchange of a mixture of experts between GPUs.

#include "tools/coll-perf/command.h"
#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/rank.h"
#include "tools/coll-perf/op/options.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/plot.h"
#include "tools/coll-perf/units.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <string>

namespace coll::perf {

namespace {

const std::map<std::string, MoeCall> kCalls = {
    {"layout", MoeCall::Layout},         {"dispatch", MoeCall::Dispatch},
    {"counts", MoeCall::DispatchCounts}, {"fp8", MoeCall::DispatchFp8},
    {"combine", MoeCall::Combine},       {"copied", MoeCall::CombineCopied}};

// A validator for CLI11: replaces the word, or returns the error.
std::string callNamed(std::string &word) {
  const auto found = kCalls.find(word);
  if (found == kCalls.end())
    return "unknown call \"" + word + "\"; see coll-perf moe --help";
  word = std::to_string(static_cast<int>(found->second));
  return {};
}

const std::map<std::string, MoeSkew> kSkews = {
    {"uniform", MoeSkew::Uniform}, {"few", MoeSkew::Few}, {"one", MoeSkew::One}};

struct Words {
  MoeTask task;
  std::vector<int> manyTokens = {4096};
  std::vector<std::string> skews = {"uniform"};
  std::string peers = "none";
  double timeoutS = 30;
  MoeFiles files;
  bool lowLatency = false;
  // Options given by the user.
  CLI::Option *tokens = nullptr, *sms = nullptr, *repeat = nullptr, *calls = nullptr;
};

// Sets the usual values of the low-latency mode: 1 to 128 tokens, all multiprocessors, many
// samples.
void chooseLowLatency(Words &words) {
  MoeTask &task = words.task;
  if (words.tokens->count() > 0)
    task.lowLatencyTokens = words.manyTokens;
  else
    task.lowLatencyTokens = {1, 2, 4, 8, 16, 32, 64, 128};
  words.manyTokens = {
      *std::max_element(task.lowLatencyTokens.begin(), task.lowLatencyTokens.end())};
  if (words.sms->count() == 0)
    task.sms = {0};
  if (words.repeat->count() == 0)
    task.repeat = 200;
}

// One task for each distribution of experts and number of tokens.
std::vector<MoeTask> tasksOf(const Words &words) {
  std::vector<MoeTask> tasks;
  for (const std::string &skew : words.skews)
    for (int tokens : words.manyTokens) {
      tasks.push_back(words.task);
      tasks.back().skew = kSkews.at(skew);
      tasks.back().tokens = tokens;
    }
  return tasks;
}

int runMoe(Words &words) {
  MoeTask &task = words.task;
  if (Status status = checkRange("--timeout", words.timeoutS, 1e-6, 1e6); !status.ok())
    return fail(status);
  task.timeoutUs = static_cast<int64_t>(words.timeoutS * 1e6);
  if (words.lowLatency && words.calls->count() > 0)
    return fail(Status::invalid("moe: --calls is for the mode without --low-latency"));
  task.nccl = words.peers == "nccl";
  if (words.lowLatency)
    chooseLowLatency(words);
  const std::vector<MoeTask> tasks = tasksOf(words);
  Status status;
  for (const MoeTask &one : tasks)
    if (status.ok())
      status = one.validate();
  if (status.ok()) {
    Result<int> code = runProcesses(
        task.ranks, [&](const rt::JobOptions &job) { return runMoeRank(tasks, job, words.files); });
    if (code.ok())
      return *code;
    status = code.status();
  }
  return fail(status);
}

} // namespace

Command addMoe(CLI::App &app, int argc, char **argv) {
  auto words = std::make_shared<Words>();
  words->files.command = shownCommand(argc, argv);
  MoeTask &task = words->task;
  CLI::App *moe =
      app.add_subcommand("moe", "the token exchange of a mixture of experts: one process per GPU");
  moe->footer("Times are those of the slowest rank, for one call of several in a row. GB/s counts "
              "the tokens\nthat a rank has received, its own included.\n\n"
              "With --low-latency: median and 99th percentile of --repeat samples; a sample is a "
              "graph with -n\npairs of calls, or one call as the host sees it (alone).\n\n"
              "Examples:\n"
              "  coll-perf moe --low-latency --peers=nccl --json=rows.jsonl --plot=tokens.svg\n"
              "  coll-perf moe --sms=8,16,24,32 --json=rows.jsonl --plot=sms.svg\n"
              "  coll-perf moe --tokens=128,1024,4096 --skew=uniform,few,one --peers=nccl\n"
              "  coll-perf moe --ranks=4 --nodes=2\n"
              "  coll-perf moe --ranks=2 --tokens=128 --hidden=2048 --topk=4 --experts=16");
  moe->add_option("--ranks", task.ranks, "processes; they share GPUs if there are fewer")
      ->capture_default_str();
  moe->add_option("--nodes", task.nodes,
                  "number of simulated nodes: between them tcp instead of peer memory")
      ->capture_default_str();
  words->tokens = moe->add_option("--tokens", words->manyTokens,
                                  "tokens per rank; a list is measured one after the other")
                      ->delimiter(',')
                      ->capture_default_str();
  moe->add_option("--hidden", task.hidden, "values per token")->capture_default_str();
  moe->add_option("--topk", task.topk, "experts per token")->capture_default_str();
  moe->add_option("--experts", task.experts, "experts on all ranks together")
      ->capture_default_str();
  moe->add_option(
         "--skew", words->skews,
         "distribution of tokens over experts: uniform, few (three tokens in four use a sixteenth\n"
         "of the experts) or one; a list is measured one after the other")
      ->delimiter(',')
      ->check(CLI::IsMember({"uniform", "few", "one"}))
      ->capture_default_str();
  moe->add_option(
         "--peers", words->peers,
         "nccl: also measure the same exchange by NCCL's send and receive with packing; with\n"
         "--low-latency it always sends the largest possible number of rows")
      ->check(CLI::IsMember({"nccl", "none"}))
      ->capture_default_str();
  words->sms =
      moe->add_option("--sms", task.sms, "multiprocessors; a list is measured one after the other")
          ->delimiter(',')
          ->capture_default_str();
  moe->add_flag(
      "--low-latency", words->lowLatency,
      "measure the low-latency mode, in graphs and alone; 1 to 128 tokens unless --tokens is "
      "given");
  words->calls = moe->add_option("--calls", task.calls, "calls to measure, without --low-latency")
                     ->delimiter(',')
                     ->transform(CLI::Validator(callNamed, ""))
                     ->default_str("dispatch,counts,fp8,combine,copied,layout");
  moe->add_flag("--fp8,!--no-fp8", task.fp8, "measure fp8 with scales, too");
  moe->add_flag("--check,!--no-check", task.check, "compare every value");
  moe->add_option("-n", task.iterations, "calls in a row")->capture_default_str();
  moe->add_option("-w", task.warmup, "warm-up calls")->capture_default_str();
  words->repeat = moe->add_option("--repeat", task.repeat, "repetitions; the median counts")
                      ->capture_default_str();
  moe->add_option("--seed", task.seed, "seed of the data")->capture_default_str();
  moe->add_option("--timeout", words->timeoutS, "limit of each wait, in seconds")
      ->capture_default_str();
  moe->add_option("--json", words->files.json, "append rows to this file")
      ->group("Output")
      ->check(whyNotWritable);
  moe->add_option("--plot", words->files.plot, kPlotHelp)->group("Output")->check(whyNotPlottable);
  return {moe, [words] { return runMoe(*words); }};
}

} // namespace coll::perf
