// gathering.h - processes, one per rank, that measure together: they exchange their statuses and
// agree on when to begin.

#ifndef COLL_TOOLS_COLL_PERF_GATHERING_H
#define COLL_TOOLS_COLL_PERF_GATHERING_H

#include "runtime/backend/backend.h"
#include "runtime/net/bootstrap/bootstrap.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace coll::perf {

using rt::Result;
using rt::Status;

// One rank's side. All ranks make the same calls in the same order.
class Gathering {
public:
  // Returns when all ranks have connected.
  static Result<std::unique_ptr<Gathering>> open(const rt::JobOptions &job, int64_t timeoutUs);

  int rank() const { return bootstrap_->rank(); }
  // For objects that make their own connections; all ranks use it at that time.
  net::Bootstrap &bootstrap() { return *bootstrap_; }
  // Returns the numbers of all ranks, or the first failure with its rank; the result is the same on
  // all ranks.
  Result<std::vector<int64_t>> agree(const Status &mine, int64_t number);
  Status agree(const Status &mine) { return agree(mine, 0).status(); }
  // Returns the bytes of all ranks, up to 64 KiB each.
  Result<std::vector<std::string>> swap(const std::string &mine);
  // Waits for the moment at which all ranks begin, and returns it (net::nowUs).
  Result<int64_t> commonStart();

private:
  Gathering(std::unique_ptr<net::Bootstrap> bootstrap, int64_t timeoutUs)
      : bootstrap_(std::move(bootstrap)), timeoutUs_(timeoutUs) {}

  std::unique_ptr<net::Bootstrap> bootstrap_;
  const int64_t timeoutUs_;
};

// Forks a process for each rank, runs `body` in it, and waits for all; returns the worst exit code.
// The caller must have no threads and must not have used a GPU.
Result<int> runProcesses(int ranks, const std::function<int(const rt::JobOptions &job)> &body);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_GATHERING_H
