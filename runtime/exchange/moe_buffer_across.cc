// The calls of MoeBuffer where ranks are on several nodes.

#include "runtime/base/dtype.h"
#include "runtime/exchange/moe_buffer.h"
#include "runtime/exchange/moe_handle.h"

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

Status MoeBuffer::checkRoutes(const MoeHandle &handle) const {
  if (!handle.routes || handle.routes->owner != mark_ ||
      handle.routes->numTokens != handle.numTokens)
    return Status::invalid("`handle` is none of a dispatch of this buffer");
  return Status::okay();
}

Result<MoeReceived> MoeBuffer::dispatchAcross(const MoeTokens &tokens, const MoeRouting &routing,
                                              const MoeLayout &layout,
                                              const MoeDispatchOptions &options, char *handleMemory,
                                              const MoeOrder &order) {
  MoeCallSign sign = signOf(MoeCallSign::kDispatch,
                            shapeOf(tokens, routing.numTopk, routing.numExperts / numNetRanks()));
  sign.numExperts = static_cast<uint32_t>(routing.numExperts);
  if (options.worstCaseTokens)
    sign.capacity = std::min(sign.capacity, options.worstCaseTokens);
  MoeReceived received;
  received.handle.isTokenInRank = layout.isTokenInRank;
  received.handle.numTokens = routing.numTokens;
  const auto dispatch = [&]() -> Status {
    COLL_RETURN_IF_ERROR(begin(order));
    std::vector<uint8_t> isTokenInRank;
    Result<std::shared_ptr<MoeRoutes>> made =
        nodes_->route(sign, layout, routing.numTokens, stream_, isTokenInRank);
    if (!made)
      return made.status();
    (*made)->owner = mark_;
    received.handle.routes = *made;
    COLL_RETURN_IF_ERROR(fillHandle(**made, isTokenInRank, options.config.numChannels(),
                                    handleMemory, received.handle));
    COLL_RETURN_IF_ERROR(
        moveAcross(tokens, &routing, received.handle.routes, options.config, received));
    return end(order);
  };
  COLL_RETURN_IF_ERROR(settle(dispatch()));
  if (options.worstCaseTokens)
    return received;
  received.handle.numRecv = received.handle.routes->numReceived();
  received.tokensPerExpert = received.handle.routes->tokensPerExpert;
  for (int32_t &count : received.tokensPerExpert)
    count =
        (count + options.expertAlignment - 1) / options.expertAlignment * options.expertAlignment;
  return received;
}

Status MoeBuffer::fillHandle(const MoeRoutes &routes, const std::vector<uint8_t> &isTokenInRank,
                             int numChannels, char *memory, MoeHandle &handle) {
  const int ranks = options_.numRanks;
  const int64_t tokens = routes.numTokens;
  const int64_t each = std::max<int64_t>(1, (tokens + numChannels - 1) / numChannels);
  std::vector<int32_t> sendHead(at(tokens * ranks)), channels(at(ranks * numChannels), 0);
  std::vector<int32_t> next(at(ranks), 0); // place among this rank's tokens for that one
  for (int64_t t = 0; t < tokens; ++t)
    for (int r = 0; r < ranks; ++r) {
      const bool goes = isTokenInRank[at(t * ranks + r)] != 0;
      sendHead[at(t * ranks + r)] = goes ? next[at(r)] : -1;
      next[at(r)] += goes;
      channels[at(r * numChannels + t / each)] = next[at(r)];
    }
  // Channels that have no tokens come last.
  for (int r = 0; r < ranks; ++r)
    for (int64_t c = (tokens + each - 1) / each; c < numChannels; ++c)
      channels[at(r * numChannels + c)] = next[at(r)];
  const MoeHandlePlaces places(tokens, ranks, numChannels);
  const auto put = [&](uint64_t offset, const std::vector<int32_t> &from, const int32_t *&to) {
    to = reinterpret_cast<int32_t *>(memory + offset);
    return nodes_->upload(memory + offset, from.data(), from.size() * sizeof(int32_t), stream_);
  };
  COLL_RETURN_IF_ERROR(put(0, routes.rankPrefix, handle.rankPrefix));
  COLL_RETURN_IF_ERROR(put(places.channelPrefix, channels, handle.channelPrefix));
  return put(places.sendHead, sendHead, handle.sendHead);
}

Status MoeBuffer::moveAcross(const MoeTokens &tokens, const MoeRouting *routing,
                             const std::shared_ptr<const MoeRoutes> &routes,
                             const MoeConfig &config, MoeReceived &received) {
  const int experts = routing ? routing->numExperts / numNetRanks() : 0; // of a node
  const kernels::MoeShape shape = shapeOf(tokens, routing ? routing->numTopk : 0, experts);
  if (!routing)
    COLL_RETURN_IF_ERROR(nodes_->agree(signOf(MoeCallSign::kDispatchAgain, shape)));
  if (routes->maxReceived > shape.capacity)
    return Status::invalid(std::to_string(routes->maxReceived) + " tokens for rank " +
                           std::to_string(routes->maxReceiver) + ", which takes " +
                           std::to_string(shape.capacity));
  const kernels::MoeRecord record = {shape.rowBytes, shape.numTopk, shape.numScales};
  Result<MoeRelay> relay = nodes_->prepare(routes, record, /*isCombine=*/false, stream_);
  if (!relay)
    return relay.status();
  COLL_RETURN_IF_ERROR(nodes_->sendAfter(stream_));
  // This rank's tokens go to its own node while the others are on the network.
  Passage passage = {routes->numTokens, routing ? routing->topkIdx : nullptr, relay->totals,
                     relay->ownRows};
  passage.firstExpert = int64_t{netRank()} * experts;
  COLL_RETURN_IF_ERROR(move(tokens, shape, passage, config));
  COLL_RETURN_IF_ERROR(nodes_->forward(*routes, *relay, tokens, passage.topkIdx, record, stream_));
  MoeTokens relayed = tokens;
  relayed.x = relay->rows;
  relayed.topkWeights = relay->topkWeights;
  relayed.scales = relay->scales;
  relayed.scaleTokenStride = tokens.numScales;
  relayed.scaleStride = 1;
  passage.numTokens = routes->numRelayed();
  passage.topkIdx = routing ? relay->topkIdx : nullptr;
  passage.sendHead = relay->relayRows;
  passage.sourceIdx = relay->relaySource;
  COLL_RETURN_IF_ERROR(move(relayed, shape, passage, config));
  pointTo(shape, received);
  received.numRelayed = routes->numRelayed();
  return Status::okay();
}

Status MoeBuffer::combineAcross(const MoeCombine &combine, const MoeHandle &handle,
                                const MoeConfig &config) {
  const MoeRoutes &routes = *handle.routes;
  Result<kernels::MoeCombineArgs> given = give(combine, config);
  if (!given)
    return given.status();
  kernels::MoeCombineArgs args = *given;
  MoeCallSign sign;
  sign.kind = MoeCallSign::kCombine;
  sign.rowBytes = args.rowBytes;
  sign.numTopk = args.numTopk;
  COLL_RETURN_IF_ERROR(nodes_->agree(sign));
  const kernels::MoeRecord record = {args.rowBytes, args.numTopk, 0};
  Result<MoeRelay> relay = nodes_->prepare(handle.routes, record, /*isCombine=*/true, stream_);
  if (!relay)
    return relay.status();
  // The others' tokens first, since the network waits for them.
  args.rankPrefix = relay->totals;
  args.numTokens = static_cast<uint32_t>(routes.numRelayed());
  args.sendHead = relay->relayRows;
  args.out = relay->rows;
  args.outWeights = relay->topkWeights;
  COLL_RETURN_IF_ERROR(platform_.kernels.combine(group_, args, stream_));
  COLL_RETURN_IF_ERROR(nodes_->sendAfter(stream_));
  args.numTokens = static_cast<uint32_t>(routes.numTokens);
  args.sendHead = relay->ownRows;
  args.out = combine.out;
  args.outWeights = combine.outWeights;
  COLL_RETURN_IF_ERROR(platform_.kernels.combine(group_, args, stream_));
  COLL_RETURN_IF_ERROR(nodes_->back(routes, *relay, record, stream_));
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
  return platform_.kernels.merge(merge, stream_);
}

} // namespace coll::rt
