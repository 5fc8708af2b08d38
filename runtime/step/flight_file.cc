#include "runtime/step/flight_file.h"

#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/base/path_pattern.h"
#include "runtime/base/trace.h"
#include "runtime/profiler/host/names.h"
#include "runtime/profiler/perfetto/writer.h"

#include <algorithm>

namespace coll::rt {

namespace {

using profiler::perfetto::Annotation;
using profiler::perfetto::FileSink;
using profiler::perfetto::Key;
using profiler::perfetto::Level;
using profiler::perfetto::TrackId;
using profiler::perfetto::Writer;

class RankWriter {
public:
  RankWriter(Writer &writer, const RankState &rank) : writer_(writer), rank_(rank) {
    const int number = rank.context().rank;
    process_ = writer.process("rank " + std::to_string(number), number + 1, number);
    nowNs_ = traceClockNs();
  }

  void write() {
    for (const FlightRecorder::Record &record : rank_.context().recorder.records())
      if (record.group >= 0 && record.call.kind != OpKind::Init)
        write(record);
  }

private:
  // The first track that is free when the operation begins.
  TrackId trackFor(int64_t beginNs, int64_t endNs) {
    size_t lane = 0;
    while (lane < freeNs_.size() && freeNs_[lane] > beginNs)
      ++lane;
    if (lane == freeNs_.size()) {
      freeNs_.push_back(0);
      tracks_.push_back(writer_.track(process_, "operations", static_cast<int32_t>(lane)));
    }
    freeNs_[lane] = endNs;
    return tracks_[lane];
  }

  void write(const FlightRecorder::Record &record) {
    const CollContext &context = rank_.context();
    const Call &call = record.call;
    const TraceGroup &group = context.traceGroups[static_cast<size_t>(record.group)];
    const bool isOpen = record.endUs < 0;
    const int64_t beginNs = record.beginUs * 1000;
    const int64_t endNs = isOpen ? std::max(nowNs_, beginNs) : record.endUs * 1000;
    std::string name = kindName(call.kind);
    if (*call.site.name)
      name += std::string(" ") + call.site.name;
    std::vector<Annotation> what = {{Key::Rank, context.rank},
                                    {Key::Comm, group.id},
                                    {Key::Ranks, group.numRanks},
                                    {Key::Func, profiler::ncclFunction(kindName(call.kind))},
                                    {Key::Datatype, dtypeName(call.dtype)},
                                    {Key::Count, call.outer * call.count},
                                    {Key::Bytes, record.bytes},
                                    {Key::Op, call.site.op},
                                    {Key::Location, call.site.loc},
                                    {Key::Completion, "reported"}};
    if (isTransfer(call.kind))
      what.push_back({Key::Peer, group.ranks[call.peer]});
    else
      what.push_back({Key::Seq, record.sequence});
    if (isOpen)
      what.push_back({Key::Flag, "unfinished"});
    else if (record.code != kCollOk)
      what.push_back({Key::Flag, "failed"});
    writer_.slice(trackFor(beginNs, endNs), isTransfer(call.kind) ? Level::P2p : Level::Coll, name,
                  static_cast<uint64_t>(beginNs), static_cast<uint64_t>(endNs), what);
  }

  Writer &writer_;
  const RankState &rank_;
  TrackId process_;
  int64_t nowNs_;
  std::vector<int64_t> freeNs_;
  std::vector<TrackId> tracks_;
};

Status writeTo(const std::string &path, const std::vector<std::unique_ptr<RankState>> &ranks) {
  Result<FileSink> file = FileSink::create(path);
  if (!file)
    return file.status();
  Writer writer(*file, {});
  for (const std::unique_ptr<RankState> &rank : ranks)
    RankWriter(writer, *rank).write();
  return writer.flush();
}

} // namespace

void writeFlightFile(const std::vector<std::unique_ptr<RankState>> &ranks) {
  const std::string pattern = envString(EnvVar::FlightRecorderFile);
  if (pattern.empty() || ranks.empty())
    return;
  const std::string path =
      expandPath(pattern, {{'r', std::to_string(ranks.front()->context().rank)}});
  if (Status status = writeTo(path, ranks); !status.ok())
    log(LogLevel::Warn, "COLL_FLIGHT_RECORDER_FILE: " + status.message());
  else
    log(LogLevel::Warn, "wrote '" + path + "': see coll-trace diagnose");
}

} // namespace coll::rt
