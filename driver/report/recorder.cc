//===- recorder.cc - what each rank did, and how long it took -------------------===//

#include "driver/report/recorder.h"

#include <algorithm>
#include <string_view>

namespace coll::run {
namespace {

constexpr size_t kMaxCalls = 4096;
/// Limit of all ranks together; each has from 64 to 1,024.
constexpr size_t kMaxBuckets = size_t(1) << 18;

void addAll(std::vector<OpTimes> &sums, const std::vector<OpTimes> &ops) {
  if (sums.size() < ops.size())
    sums.resize(ops.size());
  for (size_t i = 0; i < ops.size(); ++i)
    sums[i].add(ops[i]);
}

} // namespace

void OpTimes::add(const OpTimes &other) {
  calls += other.calls;
  bytes += other.bytes;
  totalNs += other.totalNs;
  blockedNs += other.blockedNs;
}

void StepBucket::add(const StepBucket &other) {
  steps += other.steps;
  computeNs += other.computeNs;
  blockedNs += other.blockedNs;
  longestNs = std::max(longestNs, other.longestNs);
}

Recorder::Recorder(int numRanks)
    : maxBuckets_(std::clamp<size_t>(kMaxBuckets / static_cast<size_t>(numRanks), 64, 1024) &
                  ~size_t(1)), // an even number
      ranks_(static_cast<size_t>(numRanks)) {
  for (int rank = 0; rank < numRanks; ++rank)
    ranks_[static_cast<size_t>(rank)].record.rank = rank;
}

/// Messages, which are reported by another thread, and computing are not recorded.
void Recorder::onEvent(const rt::TraceEvent &event) {
  using rt::TraceLevel;
  using rt::TracePhase;
  Rank &rank = ranks_[static_cast<size_t>(event.rank)];
  switch (event.level) {
  case TraceLevel::Function:
    return event.phase == TracePhase::Begin ? enter(rank, event) : leave(rank, event);
  case TraceLevel::Group:
  case TraceLevel::Call:
    if (event.phase == TracePhase::Begin)
      return begin(rank, event);
    return event.phase == TracePhase::End ? end(rank, event) : proceed(rank, event);
  case TraceLevel::Wait:
    return event.phase == TracePhase::Begin ? proceed(rank, event) : void();
  case TraceLevel::Device:
    return onDevice(rank, event);
  default:
    return;
  }
}

void Recorder::enter(Rank &rank, const rt::TraceEvent &event) {
  int64_t now = event.timeNs;
  rank.isStep = std::string_view(event.name) == "step";
  rank.function = event.id;
  rank.enterNs = now;
  rank.blockedNs = 0;
  rank.open.clear();
  rank.ops.assign(rank.ops.size(), {});
  rank.record.calls.clear();
  rank.record.lastEnterNs = now;
  rank.record.lastNs = -1;
}

void Recorder::leave(Rank &rank, const rt::TraceEvent &event) {
  RankRecord &record = rank.record;
  int64_t duration = event.timeNs - rank.enterNs;
  record.hasFailed = event.failed;
  record.lastNs = duration;
  if (event.failed)
    return;
  addAll(record.ops, rank.ops);
  if (!rank.isStep) {
    record.initNs = duration;
    return;
  }
  if (record.numSteps++ > 0)
    addAll(record.warmOps, rank.ops);
  addStep(record, {1, duration - rank.blockedNs, rank.blockedNs, duration});
}

/// The calls inside an exchange of tokens belong to it and are not recorded by themselves.
void Recorder::begin(Rank &rank, const rt::TraceEvent &event) {
  if (event.parent != rank.function)
    return;
  int64_t now = event.timeNs;
  Open open;
  open.id = event.id;
  open.op = std::max(event.op, 0);
  open.beginNs = open.standsSinceNs = now;
  open.times.calls = 1;
  open.times.bytes = event.bytes;
  if (rank.record.calls.size() < kMaxCalls) {
    open.call = static_cast<int64_t>(rank.record.calls.size());
    CallRecord &call = rank.record.calls.emplace_back();
    call.op = event.op;
    call.peer = event.peer;
    call.tag = event.tag;
    call.beginNs = now - rank.enterNs;
  }
  rank.open.push_back(open);
}

std::vector<Recorder::Open>::iterator Recorder::findOpen(Rank &rank, uint64_t id) {
  return std::find_if(rank.open.begin(), rank.open.end(),
                      [&](const Open &open) { return open.id == id; });
}

/// A call has been issued, or is waited for.
void Recorder::proceed(Rank &rank, const rt::TraceEvent &event) {
  bool waits = event.level == rt::TraceLevel::Wait;
  auto it = findOpen(rank, waits ? event.parent : event.id);
  if (it == rank.open.end())
    return; // begun before anybody listened
  if (it->standsSinceNs >= 0)
    it->times.blockedNs += event.timeNs - it->standsSinceNs;
  it->standsSinceNs = waits ? event.timeNs : -1;
}

/// The time for which a call's stream stands still counts as if the program stood still.
void Recorder::onDevice(Rank &rank, const rt::TraceEvent &event) {
  const bool isBegin = event.phase == rt::TracePhase::Begin;
  if (isBegin)
    rank.deviceNs = event.timeNs;
  auto it = findOpen(rank, event.parent);
  if (!isBegin && it != rank.open.end())
    it->times.blockedNs += event.timeNs - rank.deviceNs;
}

void Recorder::end(Rank &rank, const rt::TraceEvent &event) {
  auto it = findOpen(rank, event.id);
  if (it == rank.open.end())
    return;
  int64_t now = event.timeNs;
  if (it->standsSinceNs >= 0)
    it->times.blockedNs += now - it->standsSinceNs;
  it->times.totalNs = now - it->beginNs;
  rank.blockedNs += it->times.blockedNs;
  if (it->call >= 0) {
    CallRecord &call = rank.record.calls[static_cast<size_t>(it->call)];
    call.endNs = now - rank.enterNs;
    call.blockedNs = it->times.blockedNs;
  }
  size_t op = static_cast<size_t>(it->op);
  if (rank.ops.size() <= op)
    rank.ops.resize(op + 1);
  rank.ops[op].add(it->times);
  rank.open.erase(it);
}

/// Two buckets become one where there would be too many.
void Recorder::addStep(RankRecord &record, const StepBucket &step) const {
  std::vector<StepBucket> &buckets = record.buckets;
  if (!buckets.empty() && buckets.back().steps < record.stepsPerBucket)
    return buckets.back().add(step);
  if (buckets.size() == maxBuckets_) {
    for (size_t i = 0; i < buckets.size() / 2; ++i) {
      buckets[i] = buckets[2 * i];
      buckets[i].add(buckets[2 * i + 1]);
    }
    buckets.resize(buckets.size() / 2);
    record.stepsPerBucket *= 2;
  }
  buckets.push_back(step);
}

} // namespace coll::run
