//===- recorder.cc - what each rank did, and how long it took -------------------===//

#include "driver/report/recorder.h"

#include <algorithm>
#include <chrono>

namespace coll::run {
namespace {

constexpr size_t kMaxCalls = 4096;
/// Limit of all ranks together; each has from 64 to 1,024.
constexpr size_t kMaxBuckets = size_t(1) << 18;

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

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

void Recorder::onEvent(const rt::TraceEvent &event) {
  int64_t now = nowNs();
  Rank &rank = ranks_[static_cast<size_t>(event.rank)];
  switch (event.phase) {
  case rt::TracePhase::EnterInit:
  case rt::TracePhase::EnterStep:
    return enter(rank, event.phase == rt::TracePhase::EnterStep, now);
  case rt::TracePhase::Leave:
  case rt::TracePhase::Fail:
    return leave(rank, event.phase == rt::TracePhase::Fail, now);
  case rt::TracePhase::Begin:
    return begin(rank, event, now);
  default:
    return proceed(rank, event, now);
  }
}

void Recorder::enter(Rank &rank, bool isStep, int64_t now) {
  rank.isStep = isStep;
  rank.enterNs = now;
  rank.blockedNs = 0;
  rank.open.clear();
  rank.ops.assign(rank.ops.size(), {});
  rank.record.calls.clear();
  rank.record.lastEnterNs = now;
  rank.record.lastNs = -1;
}

void Recorder::leave(Rank &rank, bool hasFailed, int64_t now) {
  RankRecord &record = rank.record;
  int64_t duration = now - rank.enterNs;
  record.hasFailed = hasFailed;
  record.lastNs = duration;
  if (hasFailed)
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

void Recorder::begin(Rank &rank, const rt::TraceEvent &event, int64_t now) {
  Open open;
  open.number = event.number;
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

/// Started, Wait or End of a call.
void Recorder::proceed(Rank &rank, const rt::TraceEvent &event, int64_t now) {
  auto it = std::find_if(rank.open.begin(), rank.open.end(),
                         [&](const Open &open) { return open.number == event.number; });
  if (it == rank.open.end())
    return; // begun before anybody listened
  if (it->standsSinceNs >= 0)
    it->times.blockedNs += now - it->standsSinceNs;
  it->standsSinceNs = event.phase == rt::TracePhase::Wait ? now : -1;
  if (event.phase != rt::TracePhase::End)
    return;
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
