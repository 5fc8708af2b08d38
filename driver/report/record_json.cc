//===- record_json.cc - a rank's record as text, to be sent ---------------------===//

#include "driver/report/record_json.h"

#include "compiler/error.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace coll::run {

namespace json = llvm::json;

// What follows is found by argument-dependent lookup: json::Value and json::fromJSON use it.

static json::Value toJSON(const OpTimes &times) {
  return json::Array{times.calls, times.bytes, times.totalNs, times.blockedNs};
}

static json::Value toJSON(const StepBucket &bucket) {
  return json::Array{bucket.steps, bucket.computeNs, bucket.blockedNs, bucket.longestNs};
}

static json::Value toJSON(const CallRecord &call) {
  return json::Array{call.op, call.peer, call.tag, call.beginNs, call.endNs, call.blockedNs};
}

/// Reads an array of exactly these numbers.
template <typename... Numbers>
static bool readNumbers(const json::Value &value, json::Path path, Numbers &...numbers) {
  const json::Array *array = value.getAsArray();
  if (!array || array->size() != sizeof...(numbers)) {
    path.report("expected an array of numbers");
    return false;
  }
  size_t i = 0;
  auto readOne = [&](auto &number) {
    size_t at = i++;
    return json::fromJSON((*array)[at], number, path.index(at));
  };
  return (readOne(numbers) && ...);
}

static bool fromJSON(const json::Value &value, OpTimes &times, json::Path path) {
  return readNumbers(value, path, times.calls, times.bytes, times.totalNs, times.blockedNs);
}

static bool fromJSON(const json::Value &value, StepBucket &bucket, json::Path path) {
  return readNumbers(value, path, bucket.steps, bucket.computeNs, bucket.blockedNs,
                     bucket.longestNs);
}

static bool fromJSON(const json::Value &value, CallRecord &call, json::Path path) {
  return readNumbers(value, path, call.op, call.peer, call.tag, call.beginNs, call.endNs,
                     call.blockedNs);
}

static bool fromJSON(const json::Value &value, RankRecord &record, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("rank", record.rank) && map.map("host", record.host) &&
         map.map("process", record.process) &&
         map.map("peak_resident_bytes", record.peakResidentBytes) &&
         map.map("peak_buffer_bytes", record.peakBufferBytes) &&
         map.map("init_ns", record.initNs) && map.map("ops", record.ops) &&
         map.map("warm_ops", record.warmOps) && map.map("steps", record.numSteps) &&
         map.map("steps_per_bucket", record.stepsPerBucket) && map.map("buckets", record.buckets) &&
         map.map("last_enter_ns", record.lastEnterNs) && map.map("last_ns", record.lastNs) &&
         map.map("failed", record.hasFailed) && map.map("calls", record.calls);
}

std::string writeRecord(const RankRecord &record) {
  json::Object object{{"rank", record.rank},
                      {"host", json::fixUTF8(record.host)},
                      {"process", record.process},
                      {"peak_resident_bytes", record.peakResidentBytes},
                      {"peak_buffer_bytes", record.peakBufferBytes},
                      {"init_ns", record.initNs},
                      {"ops", json::Array(record.ops)},
                      {"warm_ops", json::Array(record.warmOps)},
                      {"steps", record.numSteps},
                      {"steps_per_bucket", record.stepsPerBucket},
                      {"buckets", json::Array(record.buckets)},
                      {"last_enter_ns", record.lastEnterNs},
                      {"last_ns", record.lastNs},
                      {"failed", record.hasFailed},
                      {"calls", json::Array(record.calls)}};
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(object));
  return text;
}

llvm::Expected<RankRecord> readRecord(llvm::StringRef text) {
  return json::parse<RankRecord>(text, "record of a rank");
}

} // namespace coll::run
