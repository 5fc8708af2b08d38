#include "runtime/failure_report.h"

#include "runtime/base/log.h"

#include <algorithm>

namespace coll::rt {

namespace {

constexpr size_t kRanksShown = 8;
constexpr size_t kOperationsShown = 3;

// Lower is nearer to the root of the trouble.
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

void logRecorders(size_t numRanks,
                  const std::function<const FlightRecorder &(size_t)> &recorderOf) {
  if (!logEnabled(LogLevel::Info))
    return;
  for (size_t rank = 0; rank < numRanks; ++rank)
    for (const std::string &line : recorderOf(rank).lines(SIZE_MAX))
      log(LogLevel::Info, "rank " + std::to_string(rank) + ": " + line);
}

} // namespace

Status reportFailure(const char *what, const std::vector<Status> &outcomes,
                     const std::function<const FlightRecorder &(size_t)> &recorderOf) {
  auto cause =
      std::min_element(outcomes.begin(), outcomes.end(), [](const Status &a, const Status &b) {
        return distanceFromCause(a) < distanceFromCause(b);
      });
  if (cause == outcomes.end() || cause->ok())
    return {};
  std::string message = std::string(what) + " failed: " + cause->message();
  size_t shown = std::min(outcomes.size(), kRanksShown);
  for (size_t rank = 0; rank < shown; ++rank) {
    message += "\n  rank " + std::to_string(rank) + ": " + outcomes[rank].toString();
    for (const std::string &line : recorderOf(rank).lines(kOperationsShown))
      message += "\n    " + line;
  }
  if (outcomes.size() > shown)
    message += "\n  … and " + std::to_string(outcomes.size() - shown) + " more ranks";
  logRecorders(outcomes.size(), recorderOf);
  return {cause->code(), message};
}

} // namespace coll::rt
