//===- recorder.h - what each rank did, and how long it took -----------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_RECORDER_H
#define COLL_DRIVER_REPORT_RECORDER_H

#include "runtime/base/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::run {

/// One operation on one rank, summed over calls.
struct OpTimes {
  int64_t calls = 0;
  int64_t bytes = 0;     // payload that the rank handed to the runtime
  int64_t totalNs = 0;   // from the call to its end
  int64_t blockedNs = 0; // of that, what the program stood still for

  void add(const OpTimes &other);
};

/// Consecutive steps of one rank, summed.
struct StepBucket {
  int64_t steps = 0;
  int64_t computeNs = 0;
  int64_t blockedNs = 0;
  int64_t longestNs = 0; // the longest single step

  void add(const StepBucket &other);
};

/// One call of the last step; times are since the rank entered it.
struct CallRecord {
  int32_t op = 0;
  int32_t peer = -1; // rank of the other side of a send or recv
  int64_t tag = 0;
  int64_t beginNs = 0;
  int64_t endNs = -1; // -1: not ended
  int64_t blockedNs = 0;
};

/// Everything about one rank. Only complete steps are in the sums.
struct RankRecord {
  int rank = 0;
  std::string host;
  int64_t process = 0;
  int64_t peakResidentBytes = 0; // of the process
  int64_t peakBufferBytes = 0;   // of buffers of all its ranks at once, while it was recorded

  int64_t initNs = 0;
  std::vector<OpTimes> ops;     // by index of the operation table
  std::vector<OpTimes> warmOps; // the same without the first step
  int64_t numSteps = 0;
  int64_t stepsPerBucket = 1;
  std::vector<StepBucket> buckets;

  int64_t lastEnterNs = 0; // the machine's monotonic clock
  int64_t lastNs = -1;     // duration of the last step; -1: the rank is still in it
  bool hasFailed = false;  // the last step ended with an error
  std::vector<CallRecord> calls;
};

/// Listens to the ranks of this process. Rank r's record belongs to its thread while it runs
/// a program, and to the caller of the executor otherwise.
class Recorder : public rt::TraceSink {
public:
  explicit Recorder(int numRanks);

  void onEvent(const rt::TraceEvent &event) override;
  const RankRecord &record(int rank) const { return ranks_[static_cast<size_t>(rank)].record; }

private:
  /// A call that has begun and not ended.
  struct Open {
    uint64_t id = 0; // of its span
    OpTimes times;
    int32_t op = 0;
    int64_t beginNs = 0;
    int64_t standsSinceNs = -1; // -1: the program goes on
    int64_t call = -1;          // index of RankRecord::calls, or -1: too many
  };
  struct Rank {
    RankRecord record;
    bool isStep = false;
    uint64_t function = 0; // span of what the rank runs
    int64_t enterNs = 0;
    int64_t blockedNs = 0;
    int64_t deviceNs = 0; // when the GPU began what it was told of last
    std::vector<Open> open;
    std::vector<OpTimes> ops; // since the rank entered
  };

  void enter(Rank &rank, const rt::TraceEvent &event);
  void leave(Rank &rank, const rt::TraceEvent &event);
  void begin(Rank &rank, const rt::TraceEvent &event);
  void proceed(Rank &rank, const rt::TraceEvent &event);
  void onDevice(Rank &rank, const rt::TraceEvent &event);
  void end(Rank &rank, const rt::TraceEvent &event);
  static std::vector<Open>::iterator findOpen(Rank &rank, uint64_t id);
  void addStep(RankRecord &record, const StepBucket &step) const;

  size_t maxBuckets_;
  std::vector<Rank> ranks_;
};

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_RECORDER_H
