// Sends and receives. Engines have no tags: they match the sends from one rank to another in order.
// So sender and receiver first meet by tag on the control endpoint. The receiver numbers the
// transfers of a sender in the order in which they meet, and both sides put them on the lane of
// this direction in that order. With the same tag, the first receive meets the first send.

#include "runtime/backend/gpu/endpoint.h"
#include "runtime/base/dtype.h"

#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

namespace coll::rt::gpu {

namespace {

// A tag for each offer, because offers of one tag may be answered in any order. The tags are
// negative like all of the runtime's own, and far from those of tokens/calls.h. Endpoints that
// share a control endpoint must not use the same tags.
int64_t nextAnswerTag() {
  static std::atomic<int64_t> next{std::numeric_limits<int64_t>::min()};
  return next.fetch_add(1, std::memory_order_relaxed);
}

// A card that is sent or received on the control endpoint because of a call; its buffer is not set.
Call cardTransfer(OpKind kind, const Call &cause, int peer, int64_t tag) {
  Call call;
  call.kind = kind;
  call.dtype = kCollI8;
  call.count = static_cast<int64_t>(Card::kBytes);
  call.peer = peer;
  call.tag = tag;
  call.site.loc = cause.site.loc;
  return call;
}

} // namespace

TransferLane &GpuEndpoint::transferLane(int sender, int receiver) {
  std::unique_ptr<TransferLane> &lane = transfers_[{sender, receiver}];
  if (!lane) {
    lane = std::make_unique<TransferLane>();
    lane->lane = engine_->makeLane(*gpu_, {sender, receiver}, rank_ == sender ? 0 : 1);
  }
  return *lane;
}

// Puts this rank's part of the lane on the card.
Status GpuEndpoint::identify(TransferLane &lane, Card &card) {
  if (!lane.identified) {
    Gpu::BesideCaptures beside(gpu_->cuda());
    COLL_RETURN_IF_ERROR(lane.lane->identify(lane.identity));
    lane.identified = true;
  }
  card.identity = lane.identity;
  return {};
}

Status GpuEndpoint::connect(TransferLane &lane, const Card &sender, const Card &receiver) {
  if (lane.lane->begun())
    return {};
  Gpu::BesideCaptures beside(gpu_->cuda());
  return lane.lane->join({sender.identity, receiver.identity});
}

Status GpuEndpoint::tell(GpuRequest &request, const Card &card, int peer, int64_t tag) {
  request.mine.resize(Card::kBytes);
  std::memcpy(request.mine.data(), &card, sizeof(Card));
  Call send = cardTransfer(OpKind::Send, request.call(), peer, tag);
  send.src = request.mine.data();
  Result<Request *> started = request.group.control->start(send);
  if (!started)
    return started.status();
  request.told = *started;
  return {};
}

Status GpuEndpoint::hear(GpuRequest &request, int peer, int64_t tag) {
  request.theirs.resize(Card::kBytes);
  Call recv = cardTransfer(OpKind::Recv, request.call(), peer, tag);
  recv.dst = request.theirs.data();
  Result<Request *> started = request.group.control->start(recv);
  if (!started)
    return started.status();
  request.heard = *started;
  return {};
}

Status GpuEndpoint::beginTransfer(GpuRequest &request) {
  const Call &call = request.call();
  const int peer = request.group.rankAt(call.peer);
  request.card = cardOf(call);
  if (call.kind == OpKind::Recv)
    return hear(request, call.peer, call.tag);
  TransferLane &lane = transferLane(rank_, peer);
  request.lane = lane.lane.get();
  COLL_RETURN_IF_ERROR(identify(lane, request.card));
  request.card.answerTag = nextAnswerTag();
  COLL_RETURN_IF_ERROR(hear(request, call.peer, request.card.answerTag));
  return tell(request, request.card, call.peer, call.tag);
}

Status GpuEndpoint::advanceSend(GpuRequest &request) {
  if (heard(request.told))
    COLL_RETURN_IF_ERROR(collect(request.told).annotate(place(request)));
  if (heard(request.heard)) {
    COLL_RETURN_IF_ERROR(collect(request.heard).annotate(place(request)));
    Card answer;
    std::memcpy(&answer, request.theirs.data(), sizeof(Card));
    const int receiver = request.group.rankAt(request.call().peer);
    COLL_RETURN_IF_ERROR(compareTransfer(request.card, rank_, answer, receiver));
    request.met = true;
    TransferLane &lane = transferLane(rank_, receiver);
    COLL_RETURN_IF_ERROR(connect(lane, request.card, answer));
    COLL_RETURN_IF_ERROR(putInTurn(lane, answer.ticket, request));
  }
  request.agreed = request.compared = request.met && !request.told;
  return {};
}

Status GpuEndpoint::putInTurn(TransferLane &lane, int64_t ticket, GpuRequest &request) {
  if (ticket < lane.nextTicket || !lane.early.emplace(ticket, &request.op).second)
    return {kCollPeer, place(request) + ": the receiver gave two transfers the same number"};
  for (auto it = lane.early.begin(); it != lane.early.end() && it->first == lane.nextTicket;
       it = lane.early.erase(it), ++lane.nextTicket)
    lane.lane->put(it->second);
  return {};
}

// Whether no receive that was started earlier waits for an offer of the same tag.
bool GpuEndpoint::isFirstOfItsTag(const GpuRequest &request) const {
  const Call &mine = request.call();
  for (const GpuRequest *earlier : pending_) {
    const Call &call = earlier->call();
    if (earlier == &request)
      break;
    if (call.kind == OpKind::Recv && !earlier->met && &earlier->group == &request.group &&
        call.peer == mine.peer && call.tag == mine.tag)
      return false;
  }
  return true;
}

Status GpuEndpoint::advanceRecv(GpuRequest &request) {
  const Call &call = request.call();
  const int sender = request.group.rankAt(call.peer);
  if (heard(request.heard) && isFirstOfItsTag(request)) {
    COLL_RETURN_IF_ERROR(collect(request.heard).annotate(place(request)));
    Card offer;
    std::memcpy(&offer, request.theirs.data(), sizeof(Card));
    request.met = true;
    // The sender gets the same result.
    request.verdict = compareTransfer(offer, sender, request.card, rank_);
    TransferLane &lane = transferLane(sender, rank_);
    request.lane = lane.lane.get();
    if (request.verdict.ok()) {
      request.card.ticket = lane.nextTicket++;
      COLL_RETURN_IF_ERROR(identify(lane, request.card));
      COLL_RETURN_IF_ERROR(connect(lane, offer, request.card));
      lane.lane->put(&request.op);
    }
    COLL_RETURN_IF_ERROR(tell(request, request.card, call.peer, offer.answerTag));
  }
  if (heard(request.told)) {
    Status told = collect(request.told).annotate(place(request));
    COLL_RETURN_IF_ERROR(request.verdict);
    COLL_RETURN_IF_ERROR(told);
    request.agreed = request.compared = true;
  }
  return {};
}

//===-- to itself ---------------------------------------------------------------===//

// If the other half was started, it completes both.
Status GpuEndpoint::beginToItself(GpuRequest &request) {
  const Call &mine = request.call();
  for (GpuRequest *other : pending_) {
    const Call &call = other->call();
    if (other == &request || other->met || &other->group != &request.group ||
        call.kind == mine.kind || !isTransfer(call.kind) || call.tag != mine.tag ||
        call.peer != mine.peer)
      continue;
    bool sends = mine.kind == OpKind::Send;
    return copyToItself(sends ? request : *other, sends ? *other : request);
  }
  return {};
}

Status GpuEndpoint::copyToItself(GpuRequest &send, GpuRequest &recv) {
  COLL_RETURN_IF_ERROR(compareTransfer(cardOf(send.call()), rank_, cardOf(recv.call()), rank_));
  dl::CudaStream stream = gpu_->stream();
  for (GpuRequest *half : {&send, &recv}) {
    if (half->op.after)
      COLL_RETURN_IF_ERROR(gpu_->order(std::exchange(half->op.after, nullptr), stream));
    else if (half->call().stream)
      COLL_RETURN_IF_ERROR(gpu_->order(static_cast<dl::CudaStream>(half->call().stream), stream));
  }
  const int64_t bytes = send.call().count * dtypeSize(send.call().dtype);
  if (bytes > 0 && send.call().src != recv.call().dst)
    COLL_RETURN_IF_ERROR(
        gpu_->copy({static_cast<char *>(recv.call().dst),
                    static_cast<const char *>(send.call().src), bytes, bytes, bytes, 1},
                   stream));
  for (GpuRequest *half : {&send, &recv}) {
    if (half->op.onCallersStream)
      COLL_RETURN_IF_ERROR(gpu_->order(stream, static_cast<dl::CudaStream>(half->call().stream)));
    Result<dl::CudaEvent> done = gpu_->record(stream);
    if (!done)
      return done.status();
    half->op.done = *done;
    half->op.stage = LaneOp::Stage::OnStream;
    half->met = half->agreed = half->compared = true;
  }
  return {};
}

} // namespace coll::rt::gpu
