// coll-perf reshard: changes the sharding of a tensor, by plans of coll and by other means.

#include "tools/coll-perf/command.h"
#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/op/options.h"
#include "tools/coll-perf/output.h"
#include "tools/coll-perf/plot.h"
#include "tools/coll-perf/reshard/rank.h"

#include <CLI/CLI.hpp>
#include <memory>

namespace coll::perf {

namespace {

struct Words {
  ReshardWords reshard;
  ReshardFiles files;
};

int runReshard(const Words &words) {
  Result<std::vector<ReshardTask>> tasks = prepareReshard(words.reshard);
  Status status = tasks.status();
  if (tasks) {
    Result<int> code = runProcesses(tasks->front().ranks, [&](const rt::JobOptions &job) {
      return runReshardRank(*tasks, job, words.files);
    });
    if (code.ok())
      return *code;
    status = code.status();
  }
  return fail(status);
}

} // namespace

Command addReshard(CLI::App &app, int argc, char **argv) {
  auto words = std::make_shared<Words>();
  words->files.command = shownCommand(argc, argv);
  CLI::App *reshard =
      app.add_subcommand("reshard", "changes the sharding of a tensor between processes");
  reshard->footer(
      "Times are those of the slowest rank, for one reshard of several in a row. GB/s: the "
      "tensor's size\n"
      "divided by that time. between: bytes that go from rank to rank. busiest link: bytes into "
      "the rank\nthat receives most from others. Each with the least that any plan moves. Ranks "
      "share GPUs if\nthere are fewer.\n\n"
      "Examples:\n"
      "  coll-perf reshard --shape=4096x4096 --senders=2 --receivers=2\n"
      "  coll-perf reshard --shape=256x256,1024x1024,4096x4096 --plot=curves.svg --certificate\n"
      "  coll-perf reshard --memory=gpu --shape=51200x51200 --json=rows.jsonl\n"
      "  coll-perf reshard --memory=gpu --shape=51200x51200 --senders=4 --receivers=4 --same\n"
      "  coll-perf reshard --memory=gpu --senders=2 --receivers=2 --nodes=2");
  addReshardOptions(*reshard, words->reshard);
  reshard->add_option("--json", words->files.json, "append rows to this file")
      ->group("Output")
      ->check(whyNotWritable);
  reshard->add_option("--plot", words->files.plot, kPlotHelp)
      ->group("Output")
      ->check(whyNotPlottable);
  return {reshard, [words] { return runReshard(*words); }};
}

} // namespace coll::perf
