// bench-trace - how fast traces are written, merged and diagnosed, and what the plugin's callbacks
// cost.
//
//   bench-trace write [--events=N]          N slices with four annotations, to a file
//   bench-trace callbacks [--events=N] [--plugin=FILE]   plays NCCL to libnccl-profiler-coll.so
//   bench-trace ranks [--ranks=N] [--events=N] [--folder=DIR]   simulated ranks, merged and
//   diagnosed
//
// Each prints a row of profiler.jsonl; --machine=TEXT names the machine.

#include "runtime/dl/library.h"
#include "test/profiler/player.h"
#include "tools/coll-trace/diagnose.h"
#include "tools/coll-trace/merge.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <sys/resource.h>

using namespace coll;
using namespace coll::profiler::perfetto;

namespace {

struct Options {
  std::string machine = "unknown", folder = "/tmp/coll-bench-trace", plugin = COLL_TEST_PLUGIN;
  uint64_t events = 0;
  int ranks = 4096;
};

double secondsSince(uint64_t ns) { return static_cast<double>(monotonicNs() - ns) / 1e9; }

double cpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double peakMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void row(const Options &options, const std::string &name, const std::string &size,
         const char *metric, double ours, double target, const std::string &more) {
  char date[32];
  const time_t now = time(nullptr);
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  std::printf(
      "{\"machine\":\"%s\",\"date\":\"%s\",\"command\":\"bench-trace\",\"case\":\"%s\",\"size\":"
      "\"%s\",\"metric\":\"%s\",\"ours\":%.4g,\"peer\":null,\"target\":%.4g%s}\n",
      options.machine.c_str(), date, name.c_str(), size.c_str(), metric, ours, target,
      more.c_str());
}

std::string field(const char *name, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), ",\"%s\":%.4g", name, value);
  return text;
}

int benchWrite(Options options) {
  const uint64_t events = options.events ? options.events : 10'000'000;
  const std::string path = options.folder + "/write.pftrace";
  FileSink sink = FileSink::create(path).take();
  const uint64_t begin = monotonicNs();
  Writer writer(sink, {});
  const TrackId track = writer.track(writer.process("rank 0", 1), "steps");
  for (uint64_t i = 0; i < events; ++i)
    writer.slice(
        track, Level::ProxyStep, "step", begin + i * 100, begin + i * 100 + 90,
        {{Key::Rank, 0}, {Key::Step, i}, {Key::Bytes, 524288}, {Key::TransferNs, i & 4095}});
  if (!writer.flush().ok())
    return 1;
  row(options, "events written", std::to_string(events), "million events a second",
      static_cast<double>(events) / 1e6 / secondsSince(begin), 2,
      field("mib_peak", peakMib()) +
          field("bytes_an_event", double(writer.bytes()) / double(events)));
  return 0;
}

int benchCallbacks(const Options &options) {
  setenv("COLL_PROFILER_FILE", (options.folder + "/callbacks.pftrace").c_str(), 1);
  setenv("COLL_PROFILER_RING", "1048576", 0);
  rt::Result<rt::dl::Library> library = rt::dl::Library::open(options.plugin);
  if (!library.ok())
    return 1;
  profiler::test::Player<5> player(library->symbol<profiler::abi::ProfilerV5>("ncclProfiler_v5"),
                                   1);
  // A collective with its calls and the work of the progress thread for it.
  constexpr double kCallbacks = 12 + 2 * 2 + 3 + 4 * 4;
  std::vector<double> times;
  for (uint64_t seq = 0; seq < (options.events ? options.events : 200'000) / 32; ++seq) {
    const uint64_t begin = monotonicNs();
    player.progress(player.enqueue(seq));
    times.push_back(static_cast<double>(monotonicNs() - begin) / kCallbacks);
    if (seq % 64 == 0)
      usleep(1000);
  }
  player.finalize();
  std::sort(times.begin(), times.end());
  row(options, "callbacks of the plugin, all events", "one", "ns", times[times.size() / 2], 100,
      field("p99", times[times.size() * 99 / 100]));
  return 0;
}

// One rank's trace: it computes, then reduces; rank 1 computes longer in the second half.
void writeRank(const Options &options, int rank, uint64_t collectives) {
  std::mt19937_64 random(static_cast<uint64_t>(rank));
  auto noisy = [&](uint64_t ns) { return ns + random() % (ns / 16); };
  FileSink sink = FileSink::create(options.folder + "/" + std::to_string(rank) + ".pftrace").take();
  Writer writer(sink, {kClockMonotonic, static_cast<uint64_t>(rank) + 1});
  const TrackId process = writer.process("rank " + std::to_string(rank), rank + 1, rank);
  const TrackId compute = writer.track(process, "compute"), colls = writer.track(process, "colls"),
                sends = writer.track(process, "send"), receives = writer.track(process, "recv");
  writer.instant(process, Level::Note, "communicator", 1,
                 {{Key::Comm, 7u}, {Key::Rank, rank}, {Key::Ranks, options.ranks}});
  for (uint64_t seq = 0; seq < collectives; ++seq) {
    const uint64_t begin = 1'000'000'000 + seq * 5'000'000, end = begin + 4'900'000;
    const bool isSlow = rank == 1 && seq > collectives / 2;
    const uint64_t computed = begin + noisy(isSlow ? 4'000'000 : 2'000'000),
                   called = computed + 9000;
    writer.slice(compute, Level::Compute, "matmul", begin, computed, {{Key::Rank, rank}});
    for (bool isSend : {true, false})
      writer.slice(isSend ? sends : receives, Level::ProxyOp, isSend ? "send" : "recv", called, end,
                   {{Key::Rank, rank},
                    {Key::Comm, 7u},
                    {Key::Seq, seq},
                    {Key::Direction, isSend ? "send" : "recv"},
                    {Key::Peer, (rank + 1) % options.ranks},
                    {Key::TransferNs, noisy(200'000)},
                    {Key::PeerWaitNs, noisy(100'000)}});
    writer.slice(colls, Level::Coll, "AllReduce", called, end,
                 {{Key::Rank, rank}, {Key::Comm, 7u}, {Key::Seq, seq}, {Key::Count, 1024}});
  }
}

int benchRanks(const Options &options) {
  const uint64_t events = options.events ? options.events : 10'000;
  std::vector<std::string> paths;
  for (int rank = 0; rank < options.ranks; ++rank) {
    writeRank(options, rank, events / 4);
    paths.push_back(options.folder + "/" + std::to_string(rank) + ".pftrace");
  }
  const std::string size =
      std::to_string(options.ranks) + " ranks x " + std::to_string(events) + " events";
  uint64_t begin = monotonicNs();
  const double cpu = cpuSeconds();
  trace::MergeOptions merge;
  merge.output = options.folder + "/merged.pftrace";
  rt::Result<trace::MergeResult> merged = trace::merge(paths, merge);
  const double mergeSeconds = secondsSince(begin), mergeMib = peakMib();
  begin = monotonicNs();
  rt::Result<trace::Run> run = trace::loadRun(paths);
  std::optional<trace::Verdict> verdict;
  if (run.ok())
    verdict = trace::diagnose(*run);
  const double diagnoseSeconds = secondsSince(begin);
  if (!merged.ok() || !verdict || verdict->rank != 1 || verdict->fault != trace::Fault::Compute)
    return 1;
  row(options, "traces of ranks merged and diagnosed", size, "seconds",
      mergeSeconds + diagnoseSeconds, 30,
      field("merge_seconds", mergeSeconds) + field("diagnose_seconds", diagnoseSeconds) +
          field("cpu_seconds", cpuSeconds() - cpu) + field("mib_peak", peakMib()) +
          field("mib_merge", mergeMib) +
          field("gib_of_traces", double(merged->bytes) / double(1 << 30)));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i], value = option.substr(option.find('=') + 1);
    if (option.rfind("--machine=", 0) == 0)
      options.machine = value;
    else if (option.rfind("--folder=", 0) == 0)
      options.folder = value;
    else if (option.rfind("--plugin=", 0) == 0)
      options.plugin = value;
    else if (option.rfind("--events=", 0) == 0)
      options.events = static_cast<uint64_t>(std::atoll(value.c_str()));
    else if (option.rfind("--ranks=", 0) == 0)
      options.ranks = std::atoi(value.c_str());
  }
  std::filesystem::create_directories(options.folder);
  const std::string what = argc > 1 ? argv[1] : "";
  int code = 2;
  if (what == "write")
    code = benchWrite(options);
  else if (what == "callbacks")
    code = benchCallbacks(options);
  else if (what == "ranks")
    code = benchRanks(options);
  else
    std::fprintf(stderr, "usage: bench-trace write|callbacks|ranks [--machine=TEXT] [--events=N] "
                         "[--ranks=N] [--folder=DIR] [--plugin=FILE]\n");
  std::filesystem::remove_all(options.folder);
  return code;
}
