// summary.h - statistics per communicator, operation and size: count, duration, bandwidth.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_SUMMARY_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_SUMMARY_H

#include "runtime/profiler/nccl_plugin/communicators.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace coll::profiler::plugin {

// Counts of durations; quantiles to within 3 %.
class Histogram {
public:
  void add(uint64_t ns);
  uint64_t count() const { return count_; }
  uint64_t sumNs() const { return sum_; }
  // 0 <= share <= 1; 0 if nothing was added.
  uint64_t quantileNs(double share) const;

private:
  static constexpr int kSteps = 32, kOctaves = 44; // up to 4.9 hours
  std::array<uint32_t, kSteps * kOctaves> buckets_{};
  uint64_t count_ = 0, sum_ = 0;
};

struct Sample {
  std::string_view func;
  uint64_t bytes = 0;
  uint64_t ns = 0;     // from the call's enqueueing until its completion
  uint64_t gpuNs = 0;  // of its kernels; 0: not known
  uint64_t waitNs = 0; // for peers, the longest of its proxy ops
};

// Bytes of an operation as nccl-tests counts them, and the factor from algorithm to bus bandwidth.
uint64_t sizeOf(std::string_view datatype);
uint64_t bytesOf(std::string_view func, uint64_t count, std::string_view datatype, int ranks);
double busFactor(std::string_view func, int ranks);

class Summary {
public:
  void begin(uint16_t communicator, const CommunicatorInfo &info);
  // At most 1,024 pairs of operation and size per communicator are distinguished; further sizes of
  // an operation share the size 0.
  void add(uint16_t communicator, const Sample &sample);
  void addDropped(uint64_t events) { dropped_ += events; }
  // The time between the moment when a socket began to move a message and when NCCL's progress
  // thread noticed.
  void addProxyDelay(uint64_t ns) { proxyDelay_.add(ns); }

  // A table for people.
  std::string text() const;
  // Prometheus' text format.
  std::string prometheus() const;

private:
  struct Row {
    Histogram time, gpu;
    uint64_t waitNs = 0;
  };
  struct Communicator {
    CommunicatorInfo info;
    std::map<std::pair<std::string, uint64_t>, Row> rows;
  };
  std::map<uint64_t, Communicator> communicators_; // by serial number
  std::array<uint64_t, Handles::kMostCommunicators + 1> serial_{};
  uint64_t nextSerial_ = 0, dropped_ = 0;
  Histogram proxyDelay_;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_SUMMARY_H
