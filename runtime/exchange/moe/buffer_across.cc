// The calls of MoeBuffer if ranks are on several nodes: the caller's part, and the part of the
// thread that executes posted calls.

#include "runtime/base/dtype.h"
#include "runtime/exchange/moe/buffer.h"
#include "runtime/exchange/moe/handle.h"

#include <algorithm>
#include <string>

namespace coll::rt {

namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

MoeCallSign signOf(MoeCallSign::Kind kind, const kernels::MoeShape &shape) {
  MoeCallSign sign;
  sign.kind = kind;
  sign.rowBytes = shape.rowBytes;
  sign.numTopk = shape.numTopk;
  sign.numScales = shape.numScales;
  sign.capacity = shape.capacity;
  return sign;
}

} // namespace

Result<uint32_t> MoeBuffer::post(std::function<Status()> work) {
  Result<uint32_t> posted =
      calls_->post(stream_, [this, work = std::move(work)](dl::CudaEvent reached) -> Status {
        COLL_RETURN_IF_ERROR(driver(platform_.cuda->streamWaitEvent(nodes_->stream(), reached, 0),
                                    "cuStreamWaitEvent"));
        COLL_RETURN_IF_ERROR(work());
        return nodes_->finish();
      });
  return posted ? posted : Result<uint32_t>(settle(posted.status()));
}

//===-- dispatch ----------------------------------------------------------------===//

Result<MoeReceived> MoeBuffer::dispatchAcross(const MoeTokens &tokens, const MoeRouting &routing,
                                              const MoeLayout &layout,
                                              const MoeDispatchOptions &options, char *handleMemory,
                                              const MoeOrder &order) {
  const bool isKnown = options.worstCaseTokens == 0;
  auto way = std::make_shared<MoeWay>(MoeWay{mark_, routing.numTokens, isKnown, nullptr});
  const Crossing crossing = crossingOf(tokens, &routing, way, options.config);
  MoeCallSign sign = signOf(MoeCallSign::kDispatch, crossing.shape);
  sign.numExperts = static_cast<uint32_t>(routing.numExperts);
  if (!isKnown)
    sign.capacity = std::min(sign.capacity, options.worstCaseTokens);
  COLL_RETURN_IF_ERROR(joint(begin(order)));
  Status refused;
  const int channels = options.config.numChannels();
  Result<uint32_t> routed = post([=, refused = isKnown ? &refused : nullptr]() -> Status {
    const Status found = routeAcross(sign, layout, channels, handleMemory, *way);
    // All ranks refuse the call, and nothing has begun.
    if (!refused || found.code() != kCollInvalidCall || !watch().ok())
      return found;
    *refused = found;
    return Status::okay();
  });
  if (!routed)
    return routed.status();
  if (isKnown) {
    calls_->wait(*routed);
    COLL_RETURN_IF_ERROR(alive());
    COLL_RETURN_IF_ERROR(refused);
    COLL_RETURN_IF_ERROR(checkRoom(crossing));
  }
  MoeReceived received;
  received.handle = handleIn(handleMemory, layout, way, options.config);
  COLL_RETURN_IF_ERROR(postCrossing(crossing, received));
  COLL_RETURN_IF_ERROR(joint(end(order)));
  if (!isKnown)
    return received;
  received.handle.numRecv = way->routes->numReceived();
  received.tokensPerExpert = way->routes->tokensPerExpert;
  for (int32_t &count : received.tokensPerExpert)
    count =
        (count + options.expertAlignment - 1) / options.expertAlignment * options.expertAlignment;
  return received;
}

Result<MoeReceived> MoeBuffer::dispatchAgainAcross(const MoeTokens &tokens, const MoeHandle &handle,
                                                   const MoeConfig &config, const MoeOrder &order) {
  const Crossing crossing = crossingOf(tokens, nullptr, handle.way, config);
  if (handle.way->isKnown)
    COLL_RETURN_IF_ERROR(checkRoom(crossing));
  MoeReceived received;
  received.handle = handle;
  COLL_RETURN_IF_ERROR(joint(begin(order)));
  COLL_RETURN_IF_ERROR(postCrossing(crossing, received));
  COLL_RETURN_IF_ERROR(joint(end(order)));
  return received;
}

Status MoeBuffer::routeAcross(const MoeCallSign &sign, const MoeLayout &layout, int numChannels,
                              char *memory, MoeWay &way) {
  std::vector<uint8_t> isTokenInRank;
  Result<std::shared_ptr<MoeRoutes>> made =
      nodes_->route(sign, layout, way.numTokens, isTokenInRank);
  if (!made)
    return made.status();
  way.routes = *made;
  return fillHandle(*way.routes, isTokenInRank, numChannels, memory);
}

Status MoeBuffer::fillHandle(const MoeRoutes &routes, const std::vector<uint8_t> &isTokenInRank,
                             int numChannels, char *memory) {
  const int ranks = options_.numRanks;
  const int64_t tokens = routes.numTokens;
  const int64_t each = std::max<int64_t>(1, (tokens + numChannels - 1) / numChannels);
  std::vector<int32_t> sendHead(at(tokens * ranks)), channels(at(ranks * numChannels), 0);
  std::vector<int32_t> next(at(ranks), 0); // next place among this rank's tokens for each rank
  for (int64_t t = 0; t < tokens; ++t)
    for (int r = 0; r < ranks; ++r) {
      const bool goes = isTokenInRank[at(t * ranks + r)] != 0;
      sendHead[at(t * ranks + r)] = goes ? next[at(r)] : -1;
      next[at(r)] += goes;
      channels[at(r * numChannels + t / each)] = next[at(r)];
    }
  // Channels without tokens come last.
  for (int r = 0; r < ranks; ++r)
    for (int64_t c = (tokens + each - 1) / each; c < numChannels; ++c)
      channels[at(r * numChannels + c)] = next[at(r)];
  const MoeHandlePlaces places(tokens, ranks, numChannels);
  const auto put = [&](uint64_t offset, const std::vector<int32_t> &from) {
    return nodes_->upload(memory + offset, from.data(), from.size() * sizeof(int32_t));
  };
  COLL_RETURN_IF_ERROR(put(0, routes.rankPrefix));
  COLL_RETURN_IF_ERROR(put(places.channelPrefix, channels));
  return put(places.sendHead, sendHead);
}

MoeBuffer::Crossing MoeBuffer::crossingOf(const MoeTokens &tokens, const MoeRouting *routing,
                                          std::shared_ptr<const MoeWay> way,
                                          const MoeConfig &config) const {
  Crossing crossing;
  crossing.tokens = tokens;
  crossing.isAgain = !routing;
  if (routing) {
    crossing.topkIdx = routing->topkIdx;
    crossing.shape = shapeOf(tokens, routing->numTopk, routing->numExperts / numNetRanks());
  } else {
    crossing.shape = shapeOf(tokens, 0, 0);
  }
  crossing.record = {crossing.shape.rowBytes, crossing.shape.numTopk, crossing.shape.numScales};
  crossing.config = config;
  crossing.way = std::move(way);
  return crossing;
}

Status MoeBuffer::postCrossing(const Crossing &crossing, MoeReceived &received) {
  COLL_RETURN_IF_ERROR(post([=] { return moveAcross(crossing); }).status());
  pointTo(crossing.shape, received);
  if (crossing.way->isKnown)
    received.numRelayed = crossing.way->routes->numRelayed();
  return Status::okay();
}

// All ranks get the same result.
Status MoeBuffer::checkReceivers(const MoeRoutes &routes, const kernels::MoeShape &shape) const {
  if (routes.maxReceived <= shape.capacity)
    return Status::okay();
  return Status::invalid(std::to_string(routes.maxReceived) + " tokens for rank " +
                         std::to_string(routes.maxReceiver) + ", which takes " +
                         std::to_string(shape.capacity));
}

// All ranks get the same result.
Status MoeBuffer::checkRoom(const Crossing &crossing) const {
  const MoeRoutes &routes = *crossing.way->routes;
  COLL_RETURN_IF_ERROR(checkReceivers(routes, crossing.shape));
  return nodes_->checkRoom(routes, crossing.record, /*isCombine=*/false);
}

Status MoeBuffer::moveAcross(const Crossing &crossing) {
  if (crossing.isAgain)
    COLL_RETURN_IF_ERROR(nodes_->agree(signOf(MoeCallSign::kDispatchAgain, crossing.shape)));
  COLL_RETURN_IF_ERROR(checkRoom(crossing));
  const MoeRoutes &routes = *crossing.way->routes;
  Result<MoeRelay> relay =
      nodes_->prepare(crossing.way->routes, crossing.record, /*isCombine=*/false);
  if (!relay)
    return relay.status();
  COLL_RETURN_IF_ERROR(nodes_->sendAfter());
  // Tokens for this rank's own node move while tokens for other nodes are on the network.
  TokenMove tokenMove = {routes.numTokens, crossing.topkIdx, relay->totals, relay->ownRows};
  tokenMove.firstExpert = int64_t{netRank()} * crossing.shape.numExperts;
  const auto moveOwn = [&](const MoeTokens &tokens) {
    return move(tokens, crossing.shape, tokenMove, crossing.config, nodes_->stream());
  };
  COLL_RETURN_IF_ERROR(moveOwn(crossing.tokens));
  COLL_RETURN_IF_ERROR(
      nodes_->forward(routes, *relay, crossing.tokens, crossing.topkIdx, crossing.record));
  MoeTokens relayed = crossing.tokens;
  relayed.x = relay->rows;
  relayed.topkWeights = relay->topkWeights;
  relayed.scales = relay->scales;
  relayed.scaleTokenStride = relayed.numScales;
  relayed.scaleStride = 1;
  tokenMove.numTokens = routes.numRelayed();
  tokenMove.topkIdx = crossing.isAgain ? nullptr : relay->topkIdx;
  tokenMove.sendHead = relay->relayRows;
  tokenMove.sourceIdx = relay->relaySource;
  return moveOwn(relayed);
}

//===-- combine -----------------------------------------------------------------===//

Status MoeBuffer::postCombine(const MoeCombine &combine, const MoeHandle &handle,
                              const MoeConfig &config, const MoeOrder &order) {
  const kernels::MoeShape shape = shapeOf(combine);
  const kernels::MoeRecord record = {shape.rowBytes, shape.numTopk, 0};
  const std::shared_ptr<const MoeWay> way = handle.way;
  if (way->isKnown)
    COLL_RETURN_IF_ERROR(nodes_->checkRoom(*way->routes, record, /*isCombine=*/true));
  COLL_RETURN_IF_ERROR(joint(begin(order)));
  COLL_RETURN_IF_ERROR(post([=] { return combineAcross(combine, way->routes, config); }).status());
  return joint(end(order));
}

Status MoeBuffer::combineAcross(const MoeCombine &combine,
                                const std::shared_ptr<const MoeRoutes> &known,
                                const MoeConfig &config) {
  const MoeRoutes &routes = *known;
  const dl::CudaStream stream = nodes_->stream();
  Result<kernels::MoeCombineArgs> given = give(combine, config, stream);
  if (!given)
    return given.status();
  kernels::MoeCombineArgs args = *given;
  MoeCallSign sign;
  sign.kind = MoeCallSign::kCombine;
  sign.rowBytes = args.rowBytes;
  sign.numTopk = args.numTopk;
  COLL_RETURN_IF_ERROR(nodes_->agree(sign));
  const kernels::MoeRecord record = {args.rowBytes, args.numTopk, 0};
  Result<MoeRelay> relay = nodes_->prepare(known, record, /*isCombine=*/true);
  if (!relay)
    return relay.status();
  // Tokens of other nodes first, because the network waits for them.
  args.rankPrefix = relay->totals;
  args.numTokens = static_cast<uint32_t>(routes.numRelayed());
  args.sendHead = relay->relayRows;
  args.out = relay->rows;
  args.outWeights = relay->topkWeights;
  COLL_RETURN_IF_ERROR(platform_.kernels.combine(group_, args, stream));
  COLL_RETURN_IF_ERROR(nodes_->sendAfter());
  args.numTokens = static_cast<uint32_t>(routes.numTokens);
  args.sendHead = relay->ownRows;
  args.out = combine.out;
  args.outWeights = combine.outWeights;
  COLL_RETURN_IF_ERROR(platform_.kernels.combine(group_, args, stream));
  COLL_RETURN_IF_ERROR(nodes_->back(routes, *relay, record));
  kernels::MoeMergeArgs merge;
  merge.rowBytes = args.rowBytes;
  merge.numTopk = args.numTopk;
  merge.numTokens = args.numTokens;
  merge.numNodes = static_cast<uint32_t>(numNetRanks());
  merge.node = static_cast<uint32_t>(netRank());
  merge.places = relay->places;
  merge.rows = relay->backRows;
  merge.weights = relay->backWeights;
  merge.bias[0] = combine.bias[0];
  merge.bias[1] = combine.bias[1];
  merge.out = combine.out;
  merge.outWeights = combine.outWeights;
  return platform_.kernels.merge(merge, stream);
}

} // namespace coll::rt
