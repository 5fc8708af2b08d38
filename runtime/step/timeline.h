// timeline.h - writes the work of each rank as a Perfetto trace while the program runs.
//
// Listens to the trace (runtime/base/trace.h). The spans of a rank in one run of @init or @step are
// kept until that ends, and then written. So the file grows step by step, and a killed run leaves a
// file that can be read. A rank's tracks:
//
//   program        the function; inside it the calls, until they return, waits, and computing
//   operations     collectives and transfers until they are complete (more tracks if they overlap)
//   messages       the messages of an operation with one peer in one direction
//   chunks         one message each
//   sockets        the part of a message that one socket moves
//   GPU            kernels, products and copies, by the GPU's clock
//   GPU operations the GPU's part of operations, by the same clock
//
// An arrow joins a send and its receive.

#ifndef COLL_RUNTIME_STEP_TIMELINE_H
#define COLL_RUNTIME_STEP_TIMELINE_H

#include "runtime/base/trace.h"
#include "runtime/profiler/host/span_table.h"
#include "runtime/profiler/perfetto/writer.h"
#include "runtime/program/program.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace coll::rt {

class Timeline final : public TraceSink {
public:
  // The most spans in one run of a function on a rank; more are dropped, and the trace says how
  // many.
  static constexpr size_t kMaxSpans = size_t(1) << 16;

  // `classes` are those of the program that runs, and `sink` receives the file; both outlive the
  // timeline. `localRanks` are this process's; its clock is `clockOffsetNs` ahead of rank 0's, with
  // an error of up to `clockErrorNs`.
  Timeline(profiler::perfetto::Sink &sink, const std::vector<Program> &classes,
           const std::vector<int> &localRanks, int64_t clockOffsetNs, int64_t clockErrorNs);
  ~Timeline() override;

  void onEvent(const TraceEvent &event) override;
  // Records the clock's offset from rank 0's clock now. The difference from the constructor's
  // offset is the drift meanwhile, and times are wrong by up to that much.
  void noteClock(int64_t clockOffsetNs, int64_t clockErrorNs);
  // Writes the remaining spans; no rank may run any more. Returns the first error of writing.
  Status finish();

private:
  struct Span {
    TraceLevel level = TraceLevel::Function;
    bool failed = false, isSend = false, isTransfer = false, isReplay = false;
    bool isCall = false; // Device: part of an operation, not of computing
    CollDtype dtype = kCollF32;
    int32_t op = -1, peer = -1, number = 0, root = 0, numRanks = 0;
    uint64_t id = 0, parent = 0, group = 0, sequence = 0, flow = 0;
    int64_t beginNs = 0, issuedNs = 0, endNs = 0; // endNs 0: not ended yet
    int64_t bytes = 0, count = 0;
    int64_t deviceBeginNs = 0, deviceEndNs = 0, errorNs = 0; // Device
    const char *name = "";
  };
  // Spans that overlap are on separate tracks, each on the first one that is free.
  struct Lanes {
    const char *name;
    std::vector<profiler::perfetto::TrackId> tracks;
    std::vector<int64_t> freeNs; // when the last slice of each ends
  };
  struct Rank {
    std::mutex mutex;
    int number = 0;
    const Descriptor *descriptor = nullptr;
    profiler::SpanTable<Span> open;
    std::vector<Span> done;
    uint64_t dropped = 0;
    int64_t numSteps = 0;
    // Under the writer's mutex.
    profiler::perfetto::TrackId process = 0, program = 0;
    std::vector<Lanes> lanes;
    std::set<uint64_t> communicators; // those that the trace has named
    // Numbers of collectives by group, and of transfers by group, ranks and tag.
    std::map<uint64_t, uint64_t> collectives;
    std::map<std::tuple<uint64_t, int, int, int64_t>, uint64_t> transfers;
  };

  Rank *find(int rank);
  void noteClock(const Rank &rank, int64_t clockOffsetNs, int64_t clockErrorNs);
  void begin(Rank &rank, const TraceEvent &event);
  void number(Rank &rank, const TraceEvent &event, Span &span);
  void end(Rank &rank, const TraceEvent &event);
  // Writes a rank's spans, which are sorted here.
  void write(Rank &rank, std::vector<Span> &spans, uint64_t dropped);
  void writeSpan(Rank &rank, const Span &span);
  void writeFunction(Rank &rank, const Span &span);
  void writeCall(Rank &rank, const Span &span);
  void writeComputation(Rank &rank, const Span &span, profiler::perfetto::TrackId track,
                        profiler::perfetto::Level level);
  void writeDevice(Rank &rank, const Span &span);
  void nameCommunicator(Rank &rank, const Span &span);
  void slice(profiler::perfetto::TrackId track, profiler::perfetto::Level level,
             const std::string &name, const Span &span, int64_t endNs,
             std::vector<profiler::perfetto::Annotation> annotations);
  profiler::perfetto::TrackId laneFor(Rank &rank, size_t kind, const Span &span);
  std::string nameOf(const Rank &rank, const Span &span) const;
  // Adds what the program's tables say about the span: op, reason, line.
  void describeOp(const Rank &rank, const Span &span,
                  std::vector<profiler::perfetto::Annotation> &what) const;

  std::mutex writing_;
  profiler::perfetto::Writer writer_;
  int64_t clockOffsetNs_, clockErrorNs_;
  std::vector<std::unique_ptr<Rank>> ranks_; // by number; null: another process's
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TIMELINE_H
