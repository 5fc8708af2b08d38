#include "plan/routes.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace coll::plan {

namespace {

// The most pieces of one pair: shardings that cut each other into more are a mistake.
constexpr size_t kMostPieces = 1 << 16;

//===-- what may be wrong with a spec ---------------------------------------------===//

std::optional<Error> checkShape(const RouteSpec &spec) {
  int64_t bytes = std::max<int64_t>(spec.elemBytes, 1);
  for (int64_t extent : spec.shape) {
    if (extent < 0)
      return Error{"the tensor's shape has an extent of " + std::to_string(extent)};
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes))
      return Error{"the tensor has more elements than memory can hold"};
  }
  return {};
}

std::optional<Error> checkRegion(const Region &region, const std::vector<int64_t> &shape) {
  if (region.begin.size() != shape.size() || region.extent.size() != shape.size())
    return Error{"its region has " + std::to_string(region.begin.size()) + " begins and " +
                 std::to_string(region.extent.size()) + " extents; the tensor has " +
                 std::to_string(shape.size()) + " dimensions"};
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t begin = region.begin[d], extent = region.extent[d];
    if (begin < 0 || extent < 0 || begin > shape[d] || extent > shape[d] - begin)
      return Error{"dimension " + std::to_string(d) + ": " + std::to_string(extent) +
                   " elements from " + std::to_string(begin) + " are not inside the tensor's " +
                   std::to_string(shape[d])};
  }
  return {};
}

std::string nameOfPart(const char *side, size_t position, int rank) {
  return std::string(side) + " " + std::to_string(position) + " (rank " + std::to_string(rank) +
         ")";
}

std::optional<Error> checkSide(const char *side, const std::vector<Part> &parts,
                               const std::vector<int64_t> &shape) {
  std::set<int> ranks;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string where = nameOfPart(side, i, parts[i].rank) + ": ";
    if (parts[i].rank < 0)
      return Error{where + "a rank is at least 0"};
    if (!ranks.insert(parts[i].rank).second)
      return Error{where + "the rank is there twice"};
    if (std::optional<Error> error = checkRegion(parts[i].region, shape))
      return Error{where + error->message};
  }
  if (parts.empty())
    return Error{"there is no " + std::string(side)};
  return {};
}

// Checks that all receivers together take a number of bytes that fits: no other sum is larger.
std::optional<Error> checkSum(const RouteSpec &spec, const Region &whole, bool gathers) {
  int64_t sum = 0;
  for (const Part &receiver : spec.receivers) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(volume(gathers ? whole : receiver.region), spec.elemBytes, &bytes) ||
        __builtin_add_overflow(sum, bytes, &sum))
      return Error{"the receivers take more bytes together than can be counted"};
  }
  return {};
}

std::optional<Error> check(const RouteSpec &spec, const Region &whole, bool gathers) {
  if (std::optional<Error> error = checkShape(spec))
    return error;
  if (std::optional<Error> error = checkSide("sender", spec.senders, spec.shape))
    return error;
  if (std::optional<Error> error = checkSide("receiver", spec.receivers, spec.shape))
    return error;
  return checkSum(spec, whole, gathers);
}

//===-- who gives what ------------------------------------------------------------------===//

class Planner {
public:
  explicit Planner(const RouteSpec &spec)
      : spec_(spec),
        phases_(static_cast<int>(std::max(spec.senders.size(), spec.receivers.size()))),
        loads_(spec.senders.size()) {}

  // All of `target` to receiver `j`.
  std::optional<Error> route(int j, const Region &target, std::vector<Route> &routes) {
    std::vector<Region> missing = {target};
    if (volume(target) == 0)
      return {};
    for (int i : sendersFor(j)) {
      const Region &held = spec_.senders[static_cast<size_t>(i)].region;
      std::vector<Region> parts = take(intersect(target, held), missing);
      if (parts.size() > kMostPieces || missing.size() > kMostPieces)
        return Error{"the shards cut each other into more than " + std::to_string(kMostPieces) +
                     " pieces"};
      if (parts.empty())
        continue;
      routes.push_back(routeOf(i, j, std::move(parts)));
      if (!routes.back().isLocal)
        loads_[static_cast<size_t>(i)] += routes.back().bytes;
      if (missing.empty())
        return {};
    }
    return unheld(missing.front());
  }

  int64_t leastWireBytes() const {
    int64_t elems = 0;
    for (const Part &receiver : spec_.receivers) {
      elems += volume(receiver.region);
      for (const Part &sender : spec_.senders)
        if (sender.rank == receiver.rank)
          elems -= volume(intersect(receiver.region, sender.region));
    }
    return elems * spec_.elemBytes;
  }

private:
  int phaseOf(int i, int j) const { return (j - i + phases_) % phases_; }
  int rankOfReceiver(int j) const { return spec_.receivers[static_cast<size_t>(j)].rank; }

  std::vector<int> sendersFor(int j) const {
    std::vector<int> order(spec_.senders.size());
    std::iota(order.begin(), order.end(), 0);
    auto key = [&](int i) {
      const auto at = static_cast<size_t>(i);
      const bool isOther = spec_.senders[at].rank != rankOfReceiver(j);
      return std::tuple(isOther, isOther ? loads_[at] : 0, phaseOf(i, j));
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    return order;
  }

  // Moves what lies in `held` out of `missing`.
  static std::vector<Region> take(const Region &held, std::vector<Region> &missing) {
    std::vector<Region> taken, left;
    int64_t amount = 0;
    if (volume(held) == 0)
      return taken;
    for (const Region &part : missing) {
      Region common = intersect(part, held);
      if (volume(common) == 0) {
        left.push_back(part);
        continue;
      }
      amount += volume(common);
      subtract(part, common, left);
      taken.push_back(std::move(common));
    }
    missing = std::move(left);
    // No other sender has yet given any of it.
    if (amount == volume(held))
      return {held};
    mergeRegions(taken);
    return taken;
  }

  Route routeOf(int i, int j, std::vector<Region> parts) const {
    Route route;
    route.sender = i;
    route.receiver = j;
    route.phase = phaseOf(i, j);
    route.isLocal = spec_.senders[static_cast<size_t>(i)].rank == rankOfReceiver(j);
    for (const Region &part : parts)
      route.bytes += volume(part) * spec_.elemBytes;
    route.regions = std::move(parts);
    return route;
  }

  static Error unheld(const Region &region) {
    std::string text;
    for (size_t d = 0; d < region.begin.size(); ++d)
      text += (d ? ", " : "") + std::to_string(region.begin[d]) + " to " +
              std::to_string(region.begin[d] + region.extent[d] - 1);
    return Error{"no sender holds the elements [" + text + "]"};
  }

  const RouteSpec &spec_;
  const int phases_;
  std::vector<int64_t> loads_; // bytes that each sender has to give others so far
};

} // namespace

const char *nameOf(RouteStrategy strategy) {
  return strategy == RouteStrategy::Routed ? "routed" : "gather";
}

Result<RoutePlan> planRoutes(const RouteSpec &spec, RouteStrategy strategy) {
  const bool gathers = strategy == RouteStrategy::Gather;
  const Region whole = {std::vector<int64_t>(spec.shape.size(), 0), spec.shape};
  if (std::optional<Error> error = check(spec, whole, gathers))
    return *error;
  RoutePlan plan;
  plan.strategy = strategy;
  Planner planner(spec);
  for (size_t j = 0; j < spec.receivers.size(); ++j) {
    const Part &receiver = spec.receivers[j];
    if (std::optional<Error> error =
            planner.route(static_cast<int>(j), gathers ? whole : receiver.region, plan.routes))
      return Error{nameOfPart("receiver", j, receiver.rank) + ": " + error->message};
  }
  std::sort(plan.routes.begin(), plan.routes.end(), [](const Route &a, const Route &b) {
    return std::tuple(a.phase, a.sender) < std::tuple(b.phase, b.sender);
  });
  for (const Route &route : plan.routes)
    plan.wireBytes += route.isLocal ? 0 : route.bytes;
  plan.leastWireBytes = planner.leastWireBytes();
  return plan;
}

} // namespace coll::plan
