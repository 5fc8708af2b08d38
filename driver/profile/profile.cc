//===- profile.cc - the timeline that --profile writes --------------------------===//

#include "driver/profile/profile.h"

#include "driver/tensors.h"
#include "runtime/base/boot_id.h"
#include "runtime/base/trace.h"
#include "runtime/step/timeline.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace coll::run {

using profiler::perfetto::FileSink;
using rt::Result;
using rt::Status;

//===-- clocks ------------------------------------------------------------------===//

namespace {

/// Whether all processes are on the machine of rank 0.
Result<bool> areOnOneMachine(rt::Executor &executor) {
  Result<std::vector<std::string>> machines = executor.gather(rt::bootId());
  if (!machines)
    return machines.status();
  bool same = true;
  for (const std::string &machine : *machines)
    same &= machine == machines->front() && !machine.empty();
  Result<std::string> told = executor.broadcast(same ? "same" : "");
  if (!told)
    return told.status();
  return *told == "same";
}

/// One reading of each rank's process; only that of rank 0 gets them.
Result<std::vector<ClockReading>> readClocks(rt::Executor &executor) {
  const int64_t fromNs = rt::traceClockNs();
  Result<std::string> go = executor.broadcast("");
  if (!go)
    return go.status();
  Result<std::vector<std::string>> clocks = executor.gather(std::to_string(rt::traceClockNs()));
  if (!clocks)
    return clocks.status();
  const int64_t toNs = rt::traceClockNs();
  std::vector<ClockReading> readings;
  for (const std::string &clock : *clocks)
    readings.push_back({fromNs, toNs, std::strtoll(clock.c_str(), nullptr, 10)});
  return readings;
}

/// "AHEAD ERROR" of each rank, a line each.
std::string offsetsOf(const std::vector<std::vector<ClockReading>> &byRank) {
  std::string lines = "0 0\n";
  for (size_t rank = 1; rank < byRank.size(); ++rank) {
    const ClockOffset offset = offsetOf(byRank[rank]);
    lines += std::to_string(offset.aheadNs) + " " + std::to_string(offset.errorNs) + "\n";
  }
  return lines;
}

} // namespace

ClockOffset offsetOf(const std::vector<ClockReading> &readings) {
  int64_t least = INT64_MIN, most = INT64_MAX;
  for (const ClockReading &reading : readings) {
    least = std::max(least, reading.clockNs - reading.toNs);
    most = std::min(most, reading.clockNs - reading.fromNs);
  }
  // Readings contradict each other if the clocks drift while they are read.
  const int64_t half = (most - least) / 2;
  return {least + half, std::abs(half)};
}

Result<ClockOffset> measureClock(rt::Executor &executor, int rounds) {
  Result<bool> same = areOnOneMachine(executor);
  if (!same || *same)
    return same ? Result<ClockOffset>(ClockOffset()) : same.status();
  std::vector<std::vector<ClockReading>> byRank;
  for (int i = 0; i < rounds; ++i) {
    Result<std::vector<ClockReading>> readings = readClocks(executor);
    if (!readings)
      return readings.status();
    byRank.resize(readings->size());
    for (size_t rank = 0; rank < readings->size(); ++rank)
      byRank[rank].push_back((*readings)[rank]);
  }
  Result<std::string> offsets = executor.broadcast(executor.isRoot() ? offsetsOf(byRank) : "");
  if (!offsets)
    return offsets.status();
  ClockOffset offset;
  const char *line = offsets->c_str();
  for (int rank = executor.localRanks().front(); rank > 0 && line; --rank)
    line = (line = std::strchr(line, '\n')) ? line + 1 : nullptr;
  if (!line || std::sscanf(line, "%" SCNd64 " %" SCNd64, &offset.aheadNs, &offset.errorNs) != 2)
    return Status::internal("no offset of the clock");
  return offset;
}

//===-- the file ----------------------------------------------------------------===//

class Profile::MemorySink final : public profiler::perfetto::Sink {
public:
  Status write(std::string_view bytes) override {
    if (bytes_.size() + bytes.size() > kMaxBytes)
      return {kCollDevice, "the timeline of this process has more than " +
                               std::to_string(kMaxBytes) + " bytes; what follows is left out"};
    bytes_ += bytes;
    return {};
  }
  const std::string &bytes() const { return bytes_; }

private:
  std::string bytes_;
};

Profile::Profile(const std::string &path, const Place &place) : path_(path), place_(place) {}

Profile::~Profile() = default;

llvm::Expected<std::unique_ptr<Profile>> Profile::create(const std::string &path,
                                                         const Place &place) {
  std::unique_ptr<Profile> profile(new Profile(path, place));
  if (!place.isRoot()) {
    profile->memory_ = std::make_unique<MemorySink>();
    return profile;
  }
  Result<FileSink> file = FileSink::create(path);
  if (!file)
    return toError(file.status().annotate("--profile"));
  profile->file_.emplace(file.take());
  return profile;
}

llvm::Error Profile::record(rt::Executor &executor, const std::function<llvm::Error()> &work,
                            const std::function<void(const std::string &)> &note) {
  Result<ClockOffset> clock = measureClock(executor);
  if (!clock)
    return toError(clock.status().annotate("--profile"));
  profiler::perfetto::Sink *sink = memory_.get();
  if (file_)
    sink = &*file_;
  rt::Timeline timeline(*sink, executor.classes(), executor.localRanks(), clock->aheadNs,
                        clock->errorNs);
  llvm::Error error = llvm::Error::success();
  {
    rt::ScopedTraceSink listen(&timeline);
    error = llvm::joinErrors(std::move(error), work());
  }
  // Again, so that the trace says how far the clocks have drifted.
  if (!error)
    if (Result<ClockOffset> now = measureClock(executor))
      timeline.noteClock(now->aheadNs, now->errorNs);
  // A failure to write the file does not change the run's outcome.
  Status written = timeline.finish();
  Status gathered = finish(executor, static_cast<bool>(error));
  if (written.ok())
    written = std::move(gathered);
  if (!written.ok())
    note("--profile: " + written.message() + "; the file is incomplete");
  else if (place_.isRoot())
    note("wrote '" + path_ + "': open it in https://ui.perfetto.dev");
  return error;
}

/// Trace files that stand one after the other are one trace.
Status Profile::finish(rt::Executor &executor, bool hasFailed) {
  if (!place_.job)
    return {};
  if (hasFailed) {
    if (!memory_ || path_.empty())
      return {};
    Result<FileSink> own = FileSink::create(path_ + ".rank" + std::to_string(place_.job->rank));
    return own ? own->write(memory_->bytes()) : own.status();
  }
  Result<std::vector<std::string>> all =
      executor.gather(memory_ ? memory_->bytes() : std::string());
  if (!all || !file_)
    return all.status();
  for (const std::string &bytes : *all)
    COLL_RETURN_IF_ERROR(file_->write(bytes));
  return {};
}

} // namespace coll::run
