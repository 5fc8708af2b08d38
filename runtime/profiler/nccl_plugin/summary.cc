#include "runtime/profiler/nccl_plugin/summary.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace coll::profiler::plugin {

namespace {

constexpr size_t kMostRows = 1024;
constexpr size_t kMostCommunicators = 4096; // later ones are not in the summary

__attribute__((format(printf, 2, 3))) void append(std::string &text, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int size = std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  text.append(line, std::min(sizeof(line) - 1, static_cast<size_t>(std::max(0, size))));
}

double gigabytesPerSecond(uint64_t bytes, uint64_t ns) {
  return ns ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
}

// For Prometheus' labels.
std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

} // namespace

void Histogram::add(uint64_t ns) {
  ++count_;
  sum_ += ns;
  const uint64_t value = std::max<uint64_t>(ns, kSteps);
  const int octave = 63 - __builtin_clzll(value) - 5; // value >> octave is 32 to 63
  const size_t bucket = static_cast<size_t>(octave) * kSteps + (value >> octave) - kSteps;
  ++buckets_[std::min(bucket, buckets_.size() - 1)];
}

uint64_t Histogram::quantileNs(double share) const {
  if (count_ == 0)
    return 0;
  uint64_t left = static_cast<uint64_t>(share * static_cast<double>(count_ - 1));
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (left < buckets_[i]) {
      const uint64_t octave = i / kSteps, low = (i % kSteps + kSteps) << octave;
      return low + (uint64_t(1) << octave) / 2;
    }
    left -= buckets_[i];
  }
  return 0;
}

uint64_t sizeOf(std::string_view datatype) {
  if (datatype.find("64") != datatype.npos || datatype.find("ouble") != datatype.npos)
    return 8;
  if (datatype.find("16") != datatype.npos || datatype.find("alf") != datatype.npos)
    return 2;
  if (datatype.find("32") != datatype.npos || datatype == "ncclFloat" || datatype == "ncclInt")
    return 4;
  return 1; // ncclInt8, ncclUint8, ncclChar, ncclFloat8e4m3, …
}

uint64_t bytesOf(std::string_view func, uint64_t count, std::string_view datatype, int ranks) {
  const uint64_t bytes = count * sizeOf(datatype);
  const bool isPerRank = func == "AllGather" || func == "ReduceScatter" || func == "AlltoAll" ||
                         func == "Gather" || func == "Scatter";
  return isPerRank && ranks > 0 ? bytes * static_cast<uint64_t>(ranks) : bytes;
}

double busFactor(std::string_view func, int ranks) {
  if (ranks < 2)
    return 1;
  const double share = static_cast<double>(ranks - 1) / ranks;
  if (func == "AllReduce")
    return 2 * share;
  if (func == "AllGather" || func == "ReduceScatter" || func == "AlltoAll" || func == "Gather" ||
      func == "Scatter")
    return share;
  return 1;
}

void Summary::begin(uint16_t communicator, const CommunicatorInfo &info) {
  serial_[communicator] = ++nextSerial_;
  if (communicators_.size() < kMostCommunicators)
    communicators_[nextSerial_].info = info;
}

void Summary::add(uint16_t communicator, const Sample &sample) {
  auto found = communicators_.find(serial_[communicator]);
  if (found == communicators_.end())
    return;
  auto &rows = found->second.rows;
  std::pair<std::string, uint64_t> key(sample.func, sample.bytes);
  auto row = rows.find(key);
  if (row == rows.end()) {
    if (rows.size() >= kMostRows)
      key.second = 0;
    row = rows.emplace(std::move(key), Row()).first;
  }
  row->second.time.add(sample.ns);
  if (sample.gpuNs)
    row->second.gpu.add(sample.gpuNs);
  row->second.waitNs += sample.waitNs;
}

std::string Summary::text() const {
  std::string text;
  for (const auto &[serial, communicator] : communicators_) {
    const CommunicatorInfo &info = communicator.info;
    append(text, "communicator %016" PRIx64 "%s%s, rank %d of %d on %d nodes\n", info.id,
           info.name.empty() ? "" : " ", info.name.c_str(), info.rank, info.ranks, info.nodes);
    append(text, "  %-14s %14s %9s %10s %10s %10s %8s %9s %9s %10s\n", "operation", "bytes",
           "count", "p50 us", "p90 us", "p99 us", "of", "algbw GB/s", "busbw GB/s", "waited us");
    for (const auto &[key, row] : communicator.rows) {
      const bool hasGpu = row.gpu.count() > 0;
      const Histogram &times = hasGpu ? row.gpu : row.time;
      const uint64_t p50 = times.quantileNs(0.5);
      const double algorithm = gigabytesPerSecond(key.second, p50);
      append(text,
             "  %-14s %14" PRIu64 " %9" PRIu64 " %10.1f %10.1f %10.1f %8s %10.2f %10.2f %9.1f\n",
             key.first.c_str(), key.second, row.time.count(), double(p50) / 1e3,
             double(times.quantileNs(0.9)) / 1e3, double(times.quantileNs(0.99)) / 1e3,
             hasGpu ? "kernels" : "host", algorithm, algorithm * busFactor(key.first, info.ranks),
             double(row.waitNs) / 1e3 / double(std::max<uint64_t>(1, row.time.count())));
    }
  }
  if (proxyDelay_.count() > 0)
    append(text, "delay of the progress thread: p50 %.1f us, p99 %.1f us\n",
           double(proxyDelay_.quantileNs(0.5)) / 1e3, double(proxyDelay_.quantileNs(0.99)) / 1e3);
  append(text, "events lost: %" PRIu64 "\n", dropped_);
  return text;
}

std::string Summary::prometheus() const {
  std::string text = "# TYPE coll_nccl_operation_seconds summary\n";
  std::string waits = "# TYPE coll_nccl_peer_wait_seconds_total counter\n";
  for (const auto &[serial, communicator] : communicators_) {
    const CommunicatorInfo &info = communicator.info;
    for (const auto &[key, row] : communicator.rows) {
      char labels[320];
      std::snprintf(
          labels, sizeof(labels),
          "communicator=\"%016" PRIx64 "\",name=\"%.100s\",rank=\"%d\",operation=\"%.60s\","
          "bytes=\"%" PRIu64 "\"",
          info.id, escaped(info.name).c_str(), info.rank, escaped(key.first).c_str(), key.second);
      for (double share : {0.5, 0.9, 0.99})
        append(text, "coll_nccl_operation_seconds{%s,quantile=\"%g\"} %.9f\n", labels, share,
               double(row.time.quantileNs(share)) / 1e9);
      append(text, "coll_nccl_operation_seconds_sum{%s} %.9f\n", labels,
             double(row.time.sumNs()) / 1e9);
      append(text, "coll_nccl_operation_seconds_count{%s} %" PRIu64 "\n", labels, row.time.count());
      append(waits, "coll_nccl_peer_wait_seconds_total{%s} %.9f\n", labels,
             double(row.waitNs) / 1e9);
    }
  }
  append(waits,
         "# TYPE coll_nccl_events_lost_total counter\ncoll_nccl_events_lost_total %" PRIu64 "\n",
         dropped_);
  return text + waits;
}

} // namespace coll::profiler::plugin
