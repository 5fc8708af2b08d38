#include "runtime/step/abi/flight_recorder.h"

#include <algorithm>
#include <chrono>

namespace coll::rt {

namespace {

int64_t nowUs() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

uint64_t FlightRecorder::begin(const Call &call, int group, int64_t bytes) {
  uint64_t number = next_++, sequence = 0;
  if (group >= 0 && !isTransfer(call.kind) && call.kind != OpKind::Init) {
    if (collectives_.size() <= static_cast<size_t>(group))
      collectives_.resize(static_cast<size_t>(group) + 1);
    sequence = collectives_[static_cast<size_t>(group)]++;
  }
  if (!records_.empty()) {
    Record &record = records_[number % records_.size()];
    record.call = call;
    record.group = group;
    record.sequence = sequence;
    record.bytes = bytes;
    record.beginUs = nowUs();
    record.endUs = -1;
    record.code = kCollOk;
  }
  return number;
}

void FlightRecorder::end(uint64_t number, CollCode code) {
  if (records_.empty() || next_ - number > records_.size())
    return; // overwritten
  Record &record = records_[number % records_.size()];
  record.endUs = nowUs();
  record.code = code;
}

std::vector<FlightRecorder::Record> FlightRecorder::records() const {
  std::vector<Record> kept;
  for (uint64_t number = next_ - std::min<uint64_t>(next_, records_.size()); number < next_;
       ++number)
    kept.push_back(records_[number % records_.size()]);
  return kept;
}

std::vector<std::string> FlightRecorder::lines(size_t limit) const {
  std::vector<std::string> lines;
  uint64_t kept = std::min<uint64_t>({next_, records_.size(), limit});
  for (uint64_t number = next_ - kept; number < next_; ++number) {
    const Record &record = records_[number % records_.size()];
    std::string line = "#" + std::to_string(number) + " " + describe(record.call) + ", group " +
                       std::to_string(record.group) + ", " + std::to_string(record.bytes) +
                       " bytes: ";
    if (record.endUs < 0)
      line += "not ended";
    else
      line += std::string(codeName(record.code)) + " after " +
              std::to_string(record.endUs - record.beginUs) + " us";
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace coll::rt
