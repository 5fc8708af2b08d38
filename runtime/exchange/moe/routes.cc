#include "runtime/exchange/moe/routes.h"

#include <algorithm>
#include <string>

namespace coll::rt {

namespace {

constexpr int64_t kMaxTokens = INT32_MAX / 2;

size_t at(int64_t index) { return static_cast<size_t>(index); }

Status disagree(int rank, const std::string &why) {
  return {kCollMismatch, "rank " + std::to_string(rank) + " " + why};
}

class Maker {
public:
  Maker(const MoeWorld &world, const std::vector<MoeCounts> &counts, MoeRoutes &routes)
      : world_(world), counts_(counts), routes_(routes) {}

  // Sums up counts. kCollInvalidCall if there are more tokens than 32 bits can count.
  Status count();
  void send(const std::vector<std::vector<MoeRoute>> &here);
  // The tokens that source `rank` sends to this node: appends their rows, or fills them in.
  Status place(int rank, const std::vector<MoeRoute> &routes, int32_t *rows, bool isOwn);

private:
  int64_t before(int source, int target) const {
    return source == 0 ? 0 : routes_.rankPrefix[at((source - 1) * world_.numRanks + target)];
  }

  const MoeWorld &world_;
  const std::vector<MoeCounts> &counts_;
  MoeRoutes &routes_;
};

Status Maker::count() {
  const int ranks = world_.numRanks, nodes = world_.numNodes(), size = world_.nodeSize;
  routes_.rankPrefix.resize(at(ranks * ranks));
  for (int target = 0; target < ranks; ++target) {
    int64_t sum = 0;
    for (int source = 0; source < ranks; ++source) {
      sum += counts_[at(source)].perRank[at(target)];
      if (sum > kMaxTokens)
        return Status::invalid(std::to_string(sum) + " tokens for rank " + std::to_string(target));
      routes_.rankPrefix[at(source * ranks + target)] = static_cast<int32_t>(sum);
    }
    if (sum > routes_.maxReceived) {
      routes_.maxReceived = sum;
      routes_.maxReceiver = target;
    }
    if (target / size == world_.node())
      routes_.memberTokens.push_back(static_cast<int32_t>(sum));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    int64_t sent = 0, relayed = 0;
    for (int n = 0; n < nodes; ++n)
      if (n != rank / size) {
        sent += counts_[at(rank)].perNode[at(n)];
        relayed += counts_[at(n * size + rank % size)].perNode[at(rank / size)];
      }
    routes_.maxTokens = std::max(routes_.maxTokens, counts_[at(rank)].numTokens);
    routes_.maxSent = std::max(routes_.maxSent, sent);
    routes_.maxRelayed = std::max(routes_.maxRelayed, relayed);
  }
  if (std::max(routes_.maxSent, routes_.maxRelayed) > kMaxTokens)
    return Status::invalid("more tokens cross to other nodes than can be numbered");
  for (const MoeCounts &counts : counts_) {
    routes_.tokensPerExpert.resize(counts.perExpert.size());
    for (size_t e = 0; e < counts.perExpert.size(); ++e)
      routes_.tokensPerExpert[e] += counts.perExpert[e];
  }
  return Status::okay();
}

void Maker::send(const std::vector<std::vector<MoeRoute>> &here) {
  const int nodes = world_.numNodes();
  routes_.places.assign(at(routes_.numTokens * nodes), -1);
  routes_.sendBegin.push_back(0);
  for (int n = 0; n < nodes; ++n) {
    if (n != world_.node())
      for (const MoeRoute &route : here[at(n)]) {
        routes_.places[at(int64_t{route.token} * nodes + n)] =
            static_cast<int32_t>(routes_.sendTokens.size());
        routes_.sendTokens.push_back(route.token);
      }
    routes_.sendBegin.push_back(static_cast<int64_t>(routes_.sendTokens.size()));
  }
}

Status Maker::place(int rank, const std::vector<MoeRoute> &routes, int32_t *rows, bool isOwn) {
  const int size = world_.nodeSize, first = world_.node() * size;
  const MoeCounts &counts = counts_[at(rank)];
  std::vector<int64_t> next, end;
  for (int i = 0; i < size; ++i) {
    next.push_back(before(rank, first + i));
    end.push_back(next.back() + counts.perRank[at(first + i)]);
  }
  int64_t last = -1;
  for (size_t t = 0; t < routes.size(); ++t) {
    const MoeRoute &route = routes[t];
    if (route.token <= last || route.token >= counts.numTokens || route.members == 0 ||
        route.members >> size != 0)
      return disagree(rank, "sends an invalid route");
    last = route.token;
    int32_t *to = rows + (isOwn ? int64_t{route.token} : static_cast<int64_t>(t)) * size;
    for (int i = 0; i < size; ++i)
      if (route.members >> i & 1u) {
        if (next[at(i)] == end[at(i)])
          return disagree(rank, "routes more tokens than it has counted");
        to[i] = static_cast<int32_t>(next[at(i)]++);
      }
  }
  return next == end ? Status::okay() : disagree(rank, "routes fewer tokens than it has counted");
}

} // namespace

std::vector<std::vector<MoeRoute>> moeRoutesOf(const MoeWorld &world, const uint8_t *isTokenInRank,
                                               int64_t numTokens) {
  std::vector<std::vector<MoeRoute>> all(at(world.numNodes()));
  for (int64_t t = 0; t < numTokens; ++t)
    for (int n = 0; n < world.numNodes(); ++n) {
      const uint8_t *isIn = isTokenInRank + t * world.numRanks + n * world.nodeSize;
      uint32_t members = 0;
      for (int i = 0; i < world.nodeSize; ++i)
        members |= isIn[i] ? 1u << i : 0u;
      if (members)
        all[at(n)].push_back({static_cast<int32_t>(t), members});
    }
  return all;
}

Status checkMoeCounts(const MoeWorld &world, int rank, const MoeCounts &counts) {
  const auto isCount = [&](int32_t count) { return count >= 0 && count <= counts.numTokens; };
  if (counts.numTokens < 0 || counts.numTokens > kMaxTokens)
    return disagree(rank, "says that it has " + std::to_string(counts.numTokens) + " tokens");
  if (counts.perRank.size() != at(world.numRanks) || counts.perNode.size() != at(world.numNodes()))
    return disagree(rank, "sent counts for other ranks");
  for (const std::vector<int32_t> *all : {&counts.perRank, &counts.perNode})
    if (!std::all_of(all->begin(), all->end(), isCount))
      return disagree(rank, "has counted more tokens than it has");
  // If a token names an expert twice, it counts twice.
  const int64_t most = kMaxTokens / world.numRanks;
  if (!std::all_of(counts.perExpert.begin(), counts.perExpert.end(),
                   [&](int32_t count) { return count >= 0 && count <= most; }))
    return disagree(rank, "has counted too many tokens for an expert");
  return Status::okay();
}

Result<std::shared_ptr<MoeRoutes>> makeMoeRoutes(const MoeWorld &world,
                                                 const std::vector<MoeCounts> &counts,
                                                 const std::vector<std::vector<MoeRoute>> &here,
                                                 const std::vector<std::vector<MoeRoute>> &there) {
  auto routes = std::make_shared<MoeRoutes>();
  routes->world = world;
  routes->numTokens = counts[at(world.rank)].numTokens;
  Maker maker(world, counts, *routes);
  COLL_RETURN_IF_ERROR(maker.count());
  maker.send(here);
  const int size = world.nodeSize;
  routes->ownRows.assign(at(routes->numTokens * size), -1);
  COLL_RETURN_IF_ERROR(
      maker.place(world.rank, here[at(world.node())], routes->ownRows.data(), /*isOwn=*/true));
  routes->relayBegin.push_back(0);
  for (int n = 0; n < world.numNodes(); ++n) {
    if (n != world.node()) {
      const size_t first = routes->relaySource.size();
      for (const MoeRoute &route : there[at(n)])
        routes->relaySource.push_back(route.token);
      routes->relayRows.resize(routes->relaySource.size() * at(size), -1);
      COLL_RETURN_IF_ERROR(maker.place(world.onNode(n), there[at(n)],
                                       routes->relayRows.data() + first * at(size),
                                       /*isOwn=*/false));
    }
    routes->relayBegin.push_back(static_cast<int64_t>(routes->relaySource.size()));
  }
  return routes;
}

} // namespace coll::rt
