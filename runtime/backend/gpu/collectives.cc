// Collectives. A call is put on its group's lane at once. Beside the data the members exchange
// cards on the control endpoint, which show whether their calls agree.

#include "runtime/backend/gpu/endpoint.h"

#include <cstring>

namespace coll::rt::gpu {

Status GpuEndpoint::beginCollective(GpuRequest &request) {
  Group &group = request.group;
  const OpKind kind = request.call().kind;
  const bool meets = kind == OpKind::Init || kind == OpKind::Barrier;
  request.lane = group.lane.get();
  if (meets && !request.call().stream)
    request.op.stage = LaneOp::Stage::OnStream; // the GPU is not involved
  else
    group.lane->put(&request.op);
  const bool makesLane = !group.introduced && !group.lane->begun();
  group.introduced = true;
  const int64_t place = engine_->placeOf(*group.lane, request.call());
  const bool isUnlike = group.history.note(signatureOf(request.call()), place);
  const bool isCompared =
      options_.comparison == Comparison::Every ||
      (options_.comparison == Comparison::Unlike && (isUnlike || group.history.isDue()));
  if (!makesLane && !meets && !isCompared) {
    request.agreed = true;
    return {};
  }
  request.op.isHeld = isUnlike && group.lane->waitsForMembers();
  request.card = cardOf(request.call());
  if (options_.comparison != Comparison::First)
    request.card.history = group.history.hash();
  request.card.memory = place;
  request.introduces = makesLane;
  if (makesLane)
    COLL_RETURN_IF_ERROR(group.lane->identify(request.card.identity));
  return exchangeCards(request);
}

Status GpuEndpoint::exchangeCards(GpuRequest &request) {
  Group &group = request.group;
  request.mine.resize(Card::kBytes);
  std::memcpy(request.mine.data(), &request.card, sizeof(Card));
  request.theirs.resize(Card::kBytes * static_cast<size_t>(group.size()));
  Call exchange;
  exchange.kind = OpKind::AllGather;
  exchange.dtype = kCollI8;
  exchange.count = static_cast<int64_t>(Card::kBytes);
  exchange.src = request.mine.data();
  exchange.dst = request.theirs.data();
  exchange.site.loc = request.call().site.loc;
  Result<Request *> started = group.control->start(exchange);
  if (!started)
    return started.status();
  request.heard = *started;
  return {};
}

Status GpuEndpoint::advanceCollective(GpuRequest &request) {
  if (!heard(request.heard))
    return {};
  Group &group = request.group;
  COLL_RETURN_IF_ERROR(collect(request.heard).annotate(place(request)));
  std::vector<Card> cards(static_cast<size_t>(group.size()));
  for (size_t i = 0; i < cards.size(); ++i)
    std::memcpy(&cards[i], request.theirs.data() + i * Card::kBytes, sizeof(Card));
  if (Status agree = compareCards(cards, group.ranks); !agree.ok()) {
    // All members get the same result. They meet once more, so that none ends the job before the
    // others know the reason.
    Call meeting;
    (void)group.control->run(meeting);
    return agree;
  }
  request.agreed = request.compared = true;
  request.op.isHeld = false;
  // Later calls may be agreed on before this one, and then wait on the lane.
  if (!request.introduces || group.lane->begun())
    return {};
  std::vector<Identity> identities;
  for (const Card &card : cards)
    identities.push_back(card.identity);
  return group.lane->join(identities);
}

} // namespace coll::rt::gpu
