#include "test/fuzz/data/traces.h"

#include "runtime/profiler/perfetto/writer.h"
#include "test/fuzz/memory_file.h"
#include "test/trace/simulation.h"
#include "tools/coll-trace/convert.h"
#include "tools/coll-trace/merge.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace coll::fuzz {
namespace {

using namespace profiler::perfetto;

std::string readWhole(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), {});
}

// A folder that lives as long as the object.
class Folder {
public:
  Folder() {
    char pattern[] = "/tmp/coll-data-fuzz-XXXXXX";
    path_ = mkdtemp(pattern) ? pattern : "";
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

Report refusalOf(const rt::Status &status) {
  return status.ok() ? Report() : Report{Verdict::Refused, status.toString()};
}

// Everything that coll-trace does with a trace: both kinds of merging, the verdict, Chakra.
Report checkTrace(const std::string &bytes) {
  const MemoryFile file(bytes), merged("");
  rt::Result<trace::Run> run = trace::loadRun({file.path()});
  if (run.ok())
    (void)trace::diagnose(*run);
  trace::MergeOptions options;
  options.output = merged.path();
  (void)trace::merge({file.path()}, options);
  options.align = trace::Align::Collectives;
  options.fromNs = 0;
  (void)trace::merge({file.path()}, options);
  const Folder folder;
  (void)trace::toChakra({file.path()}, folder.path() + "/run");
  return refusalOf(run.status());
}

Report checkChakra(const std::string &bytes) {
  const MemoryFile file(bytes), trace("");
  return refusalOf(trace::fromChakra({file.path()}, trace.path()).status());
}

struct Text : Sink {
  std::string bytes;
  rt::Status write(std::string_view more) override {
    bytes += more;
    return rt::Status::okay();
  }
};

// What a rank remembers (runtime/step/flight_file.cc): operations that ended, one that failed, one
// that never ended, and a send.
std::string makeFlightRecord() {
  Text text;
  Writer writer(text, {});
  const TrackId process = writer.process("rank 2", 3, 2);
  const TrackId track = writer.track(process, "operations", 0);
  for (uint64_t i = 0; i < 6; ++i) {
    std::vector<Annotation> what = {{Key::Rank, 2},
                                    {Key::Comm, uint64_t{7}},
                                    {Key::Ranks, 4},
                                    {Key::Func, "AllReduce"},
                                    {Key::Datatype, "f32"},
                                    {Key::Count, 1024},
                                    {Key::Bytes, 4096},
                                    {Key::Op, static_cast<int>(i)},
                                    {Key::Location, "step.py:12:3"},
                                    {Key::Completion, "reported"}};
    what.push_back(i == 3 ? Annotation{Key::Peer, 1} : Annotation{Key::Seq, i});
    if (i >= 4)
      what.push_back({Key::Flag, i == 4 ? "failed" : "unfinished"});
    writer.slice(track, i == 3 ? Level::P2p : Level::Coll, "all_reduce grad", 1000 * i,
                 1000 * i + 900, what);
  }
  (void)writer.flush();
  return std::move(text.bytes);
}

} // namespace

std::vector<InputKind> makeTraceKinds(const std::vector<std::string> &files) {
  const Folder folder;
  trace::test::Simulation simulation;
  simulation.ranks = 2;
  simulation.collectives = 3;
  std::vector<InputKind> kinds = {{"trace", ".pftrace", {}, checkTrace},
                                  {"flight", ".flight", {makeFlightRecord()}, checkTrace},
                                  {"chakra", ".et", {}, checkChakra}};
  for (bool runsAhead : {false, true}) {
    simulation.runsAhead = runsAhead;
    const std::vector<std::string> ranks = trace::test::simulate(simulation, folder.path());
    kinds[0].examples.push_back(readWhole(ranks[1]));
    (void)trace::toChakra({ranks[1]}, folder.path() + "/run");
    kinds[2].examples.push_back(readWhole(folder.path() + "/run.1.et"));
  }
  for (const std::string &file : files)
    for (InputKind &kind : kinds) {
      const bool isKind = std::filesystem::path(file).extension() == kind.suffix;
      if (isKind)
        kind.examples.push_back(readWhole(file));
    }
  return kinds;
}

} // namespace coll::fuzz
