#include "runtime/backend/direct/direct.h"

#include "runtime/backend/direct/engine.h"
#include "runtime/backend/direct/start.h"
#include "runtime/backend/direct/types.h"
#include "runtime/base/env.h"

#include <algorithm>

namespace coll::rt::direct {

namespace {

// Returns endpoints that already exist, or those of the backend below.
class Given : public Backend {
public:
  explicit Given(std::unique_ptr<Backend> below) : below_(std::move(below)) {}

  std::vector<int> localRanks() const override { return below_->localRanks(); }
  Status supports(const Call &call) const override { return below_->supports(call); }
  const Backend *below() const override { return below_->below(); }
  Result<std::unique_ptr<Endpoint>> endpoint(int rank) override {
    for (auto &[owner, endpoint] : endpoints_)
      if (owner == rank && endpoint)
        return std::move(endpoint);
    return Status::invalid("rank " + std::to_string(rank) +
                           " is not in this process, or has its endpoint already");
  }
  void add(int rank, std::unique_ptr<Endpoint> endpoint) {
    endpoints_.emplace_back(rank, std::move(endpoint));
  }

protected:
  std::unique_ptr<Backend> below_;

private:
  std::vector<std::pair<int, std::unique_ptr<Endpoint>>> endpoints_;
};

class DirectBackend final : public Given {
public:
  using Given::Given;
  Status supports(const Call &call) const override { return direct::supports(call); }
  const Backend *below() const override { return below_.get(); }
};

std::unique_ptr<Endpoint> endpointOf(Start &start, const BackendOptions &options) {
  gpu::EndpointOptions endpoint;
  endpoint.timeoutUs = options.timeoutUs;
  endpoint.comparison = gpu::comparisonOf(envInt(EnvVar::DirectCheck));
  endpoint.spinUs = envInt(EnvVar::SpinUs);
  return std::make_unique<gpu::GpuEndpoint>(
      start.rank, std::move(start.gpu), std::move(start.engine), std::move(start.below), endpoint);
}

} // namespace

Status takes(const BackendOptions &options) {
  if (options.numRanks < 1 || options.timeoutUs < 1)
    return Status::invalid("direct needs at least one rank and a positive timeout");
  if (options.numRanks > static_cast<int>(kernels::kMaxPeers))
    return {kCollUnsupported, "direct takes up to " + std::to_string(kernels::kMaxPeers) +
                                  " ranks, not " + std::to_string(options.numRanks)};
  return {};
}

Status available(const BackendOptions &options) {
  COLL_RETURN_IF_ERROR(takes(options));
  Result<Platform> found = platform();
  return found ? Status() : found.status();
}

Result<Offer> offerBackend(const BackendOptions &options, std::unique_ptr<Backend> below,
                           Demand demand) {
  const Result<Platform> found = platform();
  std::vector<Start> ranks;
  for (int rank : below->localRanks()) {
    Result<std::unique_ptr<Endpoint>> endpoint = below->endpoint(rank);
    if (!endpoint)
      return endpoint.status();
    ranks.push_back({rank, endpoint.take(), nullptr, nullptr});
  }
  Met met = meet(found, options, demand, ranks);
  COLL_RETURN_IF_ERROR(met.failure);
  std::unique_ptr<Given> backend;
  if (met.refusal.ok())
    backend = std::make_unique<DirectBackend>(std::move(below));
  else
    backend = std::make_unique<Given>(std::move(below));
  for (Start &start : ranks)
    backend->add(start.rank,
                 met.refusal.ok() ? endpointOf(start, options) : std::move(start.below));
  return Offer{std::move(backend), met.refusal};
}

Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options,
                                               std::unique_ptr<Backend> below) {
  COLL_RETURN_IF_ERROR(available(options));
  Result<Offer> offer = offerBackend(options, std::move(below), Demand::ByTable);
  if (!offer)
    return offer.status();
  COLL_RETURN_IF_ERROR(offer->refusal);
  return std::move(offer->backend);
}

} // namespace coll::rt::direct
