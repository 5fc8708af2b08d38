#include "runtime/step/failure_report.h"

#include "runtime/base/log.h"

#include <algorithm>

namespace coll::rt {

namespace {

constexpr size_t kRanksShown = 8;
constexpr size_t kOperationsShown = 3;

// The lower the number, the nearer the failure is to the cause.
int distanceFromCause(const Status &status) {
  switch (status.code()) {
  case kCollOk:
    return 3;
  case kCollAborted:
    return 2;
  case kCollPeer:
    return 1;
  default:
    return 0;
  }
}

void logRecorders(const std::vector<RankOutcome> &outcomes) {
  if (!logEnabled(LogLevel::Info))
    return;
  for (const RankOutcome &outcome : outcomes)
    for (const std::string &line : outcome.recorder->lines(SIZE_MAX))
      log(LogLevel::Info, "rank " + std::to_string(outcome.rank) + ": " + line);
}

} // namespace

Status reportFailure(const char *what, const std::vector<RankOutcome> &outcomes) {
  auto cause = std::min_element(outcomes.begin(), outcomes.end(),
                                [](const RankOutcome &a, const RankOutcome &b) {
                                  return distanceFromCause(a.status) < distanceFromCause(b.status);
                                });
  if (cause == outcomes.end() || cause->status.ok())
    return {};
  std::string message = std::string(what) + " failed: " + cause->status.message();
  size_t shown = std::min(outcomes.size(), kRanksShown);
  for (size_t i = 0; i < shown; ++i) {
    const RankOutcome &outcome = outcomes[i];
    std::vector<std::string> lines = outcome.recorder->lines(kOperationsShown);
    std::string who = "\n  rank " + std::to_string(outcome.rank);
    if (outcomes.size() > 1)
      message += who + ": " + outcome.status.toString();
    else if (!lines.empty())
      message += who + " did last:";
    for (const std::string &line : lines)
      message += "\n    " + line;
  }
  if (outcomes.size() > shown)
    message += "\n  … and " + std::to_string(outcomes.size() - shown) + " more ranks";
  logRecorders(outcomes);
  return {cause->status.code(), message};
}

} // namespace coll::rt
