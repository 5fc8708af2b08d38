// coll-exec: runs a compiled step, without a compiler.

#ifdef COLL_HAS_NET
#include "runtime/backend/net/launched_job.h"
#endif
#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "runtime/profiler/perfetto/sink.h"
#include "runtime/program/made_up.h"
#include "runtime/program/step_library.h"
#include "runtime/step/executor.h"
#include "runtime/step/rank_memory.h"
#include "runtime/step/timeline.h"
#include "tools/coll-exec/compare.h"
#include "tools/coll-exec/options.h"
#include "tools/common/tools.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

namespace coll::exec {

namespace {

int fail(const rt::Status &status) {
  std::fprintf(stderr, "coll-exec: error: %s\n", status.message().c_str());
  return 1;
}

std::vector<rt::TensorInfo> argumentsOf(const rt::Descriptor &descriptor, bool state) {
  std::vector<rt::TensorInfo> infos;
  if (state)
    for (const rt::StateInfo &own : descriptor.states)
      infos.push_back(own.info);
  else
    for (const rt::TensorInfo &info : descriptor.args)
      if (!info.isState())
        infos.push_back(info);
  return infos;
}

void printStep(int64_t step, const Outcome &outcome) {
  std::printf("step %lld", static_cast<long long>(step + 1));
  for (const rt::HostTensor &result : outcome.results.back())
    if (result.shape.empty() && rt::isFloat(result.dtype))
      std::printf("  %.9g", element(result, 0));
  std::printf("  %.3f ms\n", outcome.seconds.back() * 1e3);
  std::fflush(stdout);
}

void printSummary(const rt::Executor &executor, const Outcome &outcome) {
  std::vector<double> seconds = outcome.seconds;
  std::sort(seconds.begin(), seconds.end());
  const rt::RankMemory memory = rt::memoryOf(executor.descriptor());
  std::printf("%d ranks on %s memory, %zu steps: median %.3f ms, best %.3f ms; per rank %.1f MiB\n",
              executor.numRanks(), executor.descriptor().isOnGpu ? "GPU" : "host", seconds.size(),
              seconds[seconds.size() / 2] * 1e3, seconds.front() * 1e3,
              static_cast<double>(memory.total()) / (1 << 20));
}

// The timeline of a run, while it is begun and not ended.
class Profile {
public:
  rt::Status begin(const std::string &path, rt::Executor &executor) {
    rt::Result<profiler::perfetto::FileSink> file = profiler::perfetto::FileSink::create(path);
    if (!file)
      return file.status().annotate("--profile");
    path_ = path;
    file_.emplace(file.take());
    timeline_.emplace(*file_, executor.classes(), executor.localRanks(), 0, 0);
    listener_.emplace(&*timeline_);
    return {};
  }
  // A failure to write the file does not change the run's outcome.
  void end() {
    if (!timeline_)
      return;
    listener_.reset();
    if (rt::Status written = timeline_->finish(); !written.ok())
      std::fprintf(stderr, "coll-exec: --profile: %s; the file is incomplete\n",
                   written.message().c_str());
    else
      std::printf("wrote '%s': open it in https://ui.perfetto.dev\n", path_.c_str());
    timeline_.reset();
  }
  ~Profile() { end(); }

private:
  std::string path_;
  std::optional<profiler::perfetto::FileSink> file_;
  std::optional<rt::Timeline> timeline_;
  std::optional<rt::ScopedTraceSink> listener_;
};

// Under a launcher, backend net makes each process a rank.
rt::Result<std::optional<rt::JobOptions>> findJob(const std::string &backend) {
#ifdef COLL_HAS_NET
  if (backend == "net" && net::isLaunched()) {
    rt::Result<rt::network::LaunchedJob> launched = rt::network::readLaunchedJob();
    if (!launched)
      return launched.status();
    return std::optional(launched->job);
  }
#endif
  return std::optional<rt::JobOptions>();
}

// `isRoot`: whether this process has the results and prints.
rt::Result<Outcome> run(const std::string &path, const Options &options, bool &isRoot) {
  rt::Result<std::vector<rt::Program>> programs = rt::loadStepLibrary(path);
  if (!programs)
    return programs.status();
  rt::ExecutorOptions execution;
  // A single rank has no peers, and NCCL takes a while to start.
  execution.backend = !options.backend.empty()                      ? options.backend
                      : programs->front().descriptor.numRanks() > 1 ? "auto"
                                                                    : "threads";
  execution.graphs = options.graphs;
  rt::Result<std::optional<rt::JobOptions>> job = findJob(execution.backend);
  if (!job)
    return job.status();
  execution.job = job.take();
  isRoot = !execution.job || execution.job->rank == 0;
  rt::Result<std::unique_ptr<rt::Executor>> executor =
      rt::Executor::create(programs.take(), execution);
  if (!executor)
    return executor.status();
  const rt::Descriptor &descriptor = (*executor)->descriptor();
  Outcome outcome;
  const std::vector<rt::TensorInfo> state = argumentsOf(descriptor, true);
  const std::vector<rt::TensorInfo> batch = argumentsOf(descriptor, false);
  for (const rt::TensorInfo &info : state)
    outcome.names.push_back(info.name);
  Profile profile;
  if (!options.profile.empty() && path == options.step)
    COLL_RETURN_IF_ERROR(profile.begin(options.profile, **executor));
  COLL_RETURN_IF_ERROR((*executor)->initialize(rt::makeUpState(state, options.seed)));
  std::vector<rt::HostTensor> inputs = rt::makeUpBatch(batch, 0, options.seed), next;
  for (int64_t step = 0; step < options.steps; ++step) {
    const bool hasNext = step + 1 < options.steps;
    if (hasNext)
      next = rt::makeUpBatch(batch, step + 1, options.seed);
    const auto begin = std::chrono::steady_clock::now();
    rt::Result<std::vector<rt::HostTensor>> results =
        (*executor)->step(inputs, hasNext ? &next : nullptr);
    if (!results)
      return results.status().annotate("step " + std::to_string(step + 1));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    outcome.results.push_back(results.take());
    outcome.seconds.push_back(taken.count());
    inputs.swap(next); // the addresses of the elements stay
    if (isRoot)
      printStep(step, outcome);
  }
  profile.end();
  rt::Result<std::vector<rt::HostTensor>> final = (*executor)->state();
  if (!final)
    return final.status();
  outcome.state = final.take();
  if (isRoot)
    printSummary(**executor, outcome);
  return outcome;
}

} // namespace

} // namespace coll::exec

int coll::execMain(int argc, char **argv) {
  using namespace coll::exec;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--version") == 0)
      return std::printf("coll-exec %s\n", COLL_VERSION) < 0;
    if (std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0)
      return std::printf("%s", kUsage) < 0;
  }
  rt::Result<Options> options = parseOptions(argc, argv);
  if (!options) {
    std::fprintf(stderr, "coll-exec: error: %s\n%s", options.status().message().c_str(), kUsage);
    return 2;
  }
  // CUDA gives each stream of ranks that share a GPU a queue of its own.
  const rt::ScopedEnv queues("CUDA_DEVICE_MAX_CONNECTIONS", "32");
  bool isRoot = true;
  rt::Result<Outcome> outcome = run(options->step, *options, isRoot);
  if (!outcome)
    return fail(outcome.status());
  if (options->compare.empty())
    return 0;
  rt::Result<Outcome> expected = run(options->compare, *options, isRoot);
  if (!expected)
    return fail(expected.status().annotate("--compare"));
  if (!isRoot)
    return 0;
  return compare(*outcome, *expected, options->rtol) ? 0 : 1;
}
