// collective.h - one collective on one rank: the exchange of calls, then a schedule if the data
// does not fit into the exchange.

#ifndef COLL_RUNTIME_BACKEND_NET_COLLECTIVE_H
#define COLL_RUNTIME_BACKEND_NET_COLLECTIVE_H

#include "runtime/backend/net/activity.h"
#include "runtime/backend/net/algorithms/algorithms.h"
#include "runtime/backend/net/exchange.h"

#include <memory>

namespace coll::rt::network {

// Resolves Auto. Another choice is used only if the operation has that algorithm and may use it.
Algorithm chooseAlgorithm(const Call &call, int64_t n, Algorithm choice);

struct CollectiveOptions {
  Algorithm algorithm = Algorithm::Auto;
  // Contributions of at most this many bytes together are sent with the exchange.
  int64_t exchangeBytes = 14 << 10;
};

// Whether all contributions are sent with the exchange, or there is no other member.
bool isSmall(const Call &call, int64_t n, const CollectiveOptions &options);

class Collective final : public Activity {
public:
  // `number` is the call's number in its group `ranks`. All arguments outlive the collective.
  Collective(Mesh &mesh, Mover &mover, const std::vector<int> &ranks, int me, uint64_t number,
             const Call &call, const CollectiveOptions &options);

  Result<bool> advance(bool &moved) override;
  std::vector<int> waitingFor() const override;
  uint64_t key() const override { return tag_; }

private:
  void applySmall();
  Status schedule();
  Result<const char *> stagedSource(int64_t outer, int64_t blocks);
  Result<char *> stagedDestination(int64_t outer, int64_t blocks);
  Status addReduction(const Plan &plan, Algorithm algorithm);
  Status addMovement(const Plan &plan, Algorithm algorithm);
  Status finish();
  int n() const { return static_cast<int>(ranks_.size()); }

  Mesh &mesh_;
  Mover &mover_;
  const std::vector<int> &ranks_;
  int me_;
  Call call_;
  Algorithm choice_;
  uint64_t tag_;
  bool isSmall_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Schedule> schedule_; // null until the exchange is over
  char *unpack_ = nullptr;             // blocks that finish() puts into the destination
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_COLLECTIVE_H
