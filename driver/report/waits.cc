//===- waits.cc - what the ranks waited for in the last step --------------------===//

#include "driver/report/waits.h"

#include <algorithm>

namespace coll::run {

namespace {

/// One member's part in one operation.
struct Part {
  int rank, peer;
  double inNs, blockedNs;
};

/// The operation's row, the group's list, and which of its calls it is.
using Place = std::tuple<size_t, size_t, int64_t>;

size_t listOf(const rt::GroupLists &groups, int rank) {
  for (size_t i = 0; i < groups.size(); ++i)
    if (std::find(groups[i].begin(), groups[i].end(), rank) != groups[i].end())
      return i;
  return groups.size();
}

std::map<Place, std::vector<Part>> collectParts(const Analysis &analysis) {
  std::map<Place, std::vector<Part>> parts;
  for (const RankSummary &rank : analysis.ranks) {
    if (!rank.record || rank.classIndex < 0)
      continue;
    const std::vector<size_t> &rowOf = analysis.rowOf[static_cast<size_t>(rank.classIndex)];
    std::map<int32_t, int64_t> calls;
    for (const CallRecord &call : rank.record->calls) {
      if (call.op < 0 || static_cast<size_t>(call.op) >= rowOf.size())
        continue;
      const int64_t number = calls[call.op]++;
      if (call.endNs < 0)
        continue;
      const size_t row = rowOf[static_cast<size_t>(call.op)];
      const size_t list = listOf(analysis.rows[row].groups, rank.rank);
      parts[{row, list, number}].push_back(
          {rank.rank, call.peer, double(call.endNs - call.beginNs), double(call.blockedNs)});
    }
  }
  return parts;
}

/// Adds one member's part; `last` was the last to come, and was in it for `leastNs`.
void addPart(OperationWaits &to, const Part &part, int last, double leastNs) {
  WaitTimes times;
  // The other side of a transfer is not beside it: all of its time is a wait for it.
  times.waitNs = part.peer >= 0 ? part.blockedNs : std::min(part.blockedNs, part.inNs - leastNs);
  times.moveNs = part.blockedNs - times.waitNs;
  times.hiddenNs = std::max(0.0, part.inNs - part.blockedNs);
  to.times.add(times);
  if (times.waitNs > 0)
    to.waitNsFor[part.peer >= 0 ? part.peer : last] += times.waitNs;
}

} // namespace

void WaitTimes::add(const WaitTimes &other) {
  waitNs += other.waitNs;
  moveNs += other.moveNs;
  hiddenNs += other.hiddenNs;
}

StepWaits findWaits(const Analysis &analysis) {
  std::map<size_t, OperationWaits> byRow;
  for (const auto &[place, parts] : collectParts(analysis)) {
    OperationWaits &operation = byRow[std::get<0>(place)];
    operation.row = std::get<0>(place);
    ++operation.calls;
    auto last = std::min_element(parts.begin(), parts.end(),
                                 [](const Part &a, const Part &b) { return a.inNs < b.inNs; });
    for (const Part &part : parts)
      addPart(operation, part, last->rank, last->inNs);
  }
  StepWaits waits;
  for (auto &[row, operation] : byRow) {
    waits.times.add(operation.times);
    for (auto [rank, ns] : operation.waitNsFor)
      waits.waitNsFor[rank] += ns;
    waits.operations.push_back(std::move(operation));
  }
  std::stable_sort(waits.operations.begin(), waits.operations.end(),
                   [](const OperationWaits &a, const OperationWaits &b) {
                     return a.times.exposedNs() > b.times.exposedNs();
                   });
  return waits;
}

} // namespace coll::run
