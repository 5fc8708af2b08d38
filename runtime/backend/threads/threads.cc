#include "runtime/backend/threads/threads.h"

#include "runtime/backend/threads/endpoint.h"

#include <numeric>

namespace coll::rt::threads {

namespace {

constexpr int kMaxRanks = 1024;

class ThreadsBackend final : public Backend {
public:
  explicit ThreadsBackend(const BackendOptions &options) : world_(options) {}

  std::vector<int> localRanks() const override {
    std::vector<int> ranks(static_cast<size_t>(world_.numRanks()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
  }

  Result<std::unique_ptr<Endpoint>> endpoint(int rank) override {
    if (rank < 0 || rank >= world_.numRanks())
      return Status::invalid("there is no rank " + std::to_string(rank));
    return std::unique_ptr<Endpoint>(new ThreadsEndpoint(world_, rank));
  }

private:
  World world_;
};

} // namespace

Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options) {
  if (options.numRanks < 1 || options.timeoutUs < 1)
    return Status::invalid("threads needs at least one rank and a positive timeout");
  if (options.job)
    return Status(kCollUnsupported, "backend threads runs all ranks in one process");
  if (options.numRanks > kMaxRanks)
    return Status(kCollUnsupported, "threads runs at most " + std::to_string(kMaxRanks) +
                                        " ranks, not " + std::to_string(options.numRanks));
  return std::unique_ptr<Backend>(new ThreadsBackend(options));
}

} // namespace coll::rt::threads
