#include "tools/coll-trace/commands.h"
#include "tools/coll-trace/run.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace coll::trace {

namespace {

struct Row {
  std::vector<uint64_t> times, waits;
  uint64_t inNs = 0, hiddenNs = 0;
};

// The share of the time in the operation during which the rank computed.
std::string hiddenShare(const Run &run, const Row &row) {
  if (!run.hasCompute || row.inNs == 0)
    return "-";
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%",
                100 * static_cast<double>(row.hiddenNs) / static_cast<double>(row.inNs));
  return text;
}

double quantileUs(std::vector<uint64_t> &values, double share) {
  if (values.empty())
    return 0;
  const size_t place = static_cast<size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(place), values.end());
  return static_cast<double>(values[place]) / 1e3;
}

void print(const Run &run, uint64_t comm, const CommunicatorParts &communicator) {
  std::map<uint32_t, Row> rows;
  const std::vector<Part> &parts = communicator.parts;
  for (size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    uint64_t workNs = UINT64_MAX;
    for (end = begin; end < parts.size() && parts[end].seq == parts[begin].seq; ++end)
      workNs = std::min(workNs, parts[end].endNs - parts[end].arrivedNs);
    for (size_t i = begin; i < end; ++i) {
      Row &row = rows[parts[i].what];
      row.times.push_back(parts[i].endNs - parts[i].arrivedNs);
      row.waits.push_back(parts[i].endNs - parts[i].arrivedNs - workNs);
      row.inNs += parts[i].endNs - parts[i].arrivedNs;
      row.hiddenNs += parts[i].hiddenNs;
    }
  }
  std::printf("communicator %" PRIx64 ", %d ranks\n", comm, communicator.ranks);
  std::printf("  %-36s %9s %10s %10s %10s %12s %12s %8s\n", "operation", "count", "p50 us",
              "p90 us", "p99 us", "wait p50 us", "wait p99 us", "hidden");
  for (auto &[what, row] : rows)
    std::printf("  %-36s %9zu %10.1f %10.1f %10.1f %12.1f %12.1f %8s\n", run.whats[what].c_str(),
                row.times.size(), quantileUs(row.times, 0.5), quantileUs(row.times, 0.9),
                quantileUs(row.times, 0.99), quantileUs(row.waits, 0.5),
                quantileUs(row.waits, 0.99), hiddenShare(run, row).c_str());
}

} // namespace

int summaryCommand(const Arguments &arguments) {
  if (rt::Status status = checkFiles(arguments); !status.ok())
    return fail(2, status.message());
  rt::Result<Run> run = loadRun(arguments);
  if (!run.ok())
    return fail(1, run.status().message());
  for (const auto &[comm, communicator] : run->communicators)
    print(*run, comm, communicator);
  std::printf("wait: for the rank that was ready last; hidden: share of the time in which its rank "
              "computed%s; "
              "events lost: %" PRIu64 "\n",
              run->hasCompute ? "" : " (the traces have no compute slices)", run->dropped);
  return 0;
}

} // namespace coll::trace
