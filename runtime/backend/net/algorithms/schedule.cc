#include "runtime/backend/net/algorithms/schedule.h"

namespace coll::rt::network {

Schedule::~Schedule() {
  if (remaining_ > 0)
    mover_.drain();
  for (Lane &lane : lanes_) {
    for (Flight &flight : lane.flights) {
      mover_.release(flight.part);
      lane.trace.end(flight.span, /*failed=*/true);
    }
    lane.trace.close();
  }
  for (char *memory : scratch_)
    mover_.release(memory);
}

Result<char *> Schedule::scratch(int64_t bytes) {
  Result<char *> memory = mover_.allocate(bytes);
  if (memory.ok())
    scratch_.push_back(*memory);
  return memory;
}

//===-- building ----------------------------------------------------------------===//

Schedule::Step Schedule::add(const Work &work, const Steps &after) {
  Step step = static_cast<Step>(work_.size());
  work_.push_back(work);
  ++remaining_;
  for (Step earlier : after) {
    if (earlier == kNone)
      continue;
    Work &first = work_[static_cast<size_t>(earlier)];
    edges_.push_back({step, first.firstEdge});
    first.firstEdge = static_cast<int32_t>(edges_.size()) - 1;
    ++work_.back().missing;
  }
  bool isLocal = work.kind != Kind::Send && work.kind != Kind::Recv;
  if (isLocal && work_.back().missing == 0)
    ready_.push_back(step);
  return step;
}

Schedule::Lane &Schedule::lane(int peer, bool isSend, uint32_t label) {
  for (Lane &lane : lanes_)
    if (lane.peer == peer && lane.isSend == isSend && lane.label == label)
      return lane;
  lanes_.push_back({peer, isSend, label, {}, 0, {}, LaneTrace(mesh_.rank(), peer, isSend)});
  return lanes_.back();
}

Schedule::Step Schedule::send(int peer, uint32_t label, const void *src, int64_t bytes,
                              const Steps &after) {
  if (bytes == 0)
    return kNone;
  Work work = {Kind::Send};
  work.src = src;
  work.amount = bytes;
  Step step = add(work, after);
  lane(peer, true, label).steps.push_back(step);
  return step;
}

Schedule::Step Schedule::recv(int peer, uint32_t label, void *dst, int64_t bytes,
                              const Steps &after) {
  if (bytes == 0)
    return kNone;
  Work work = {Kind::Recv};
  work.dst = dst;
  work.amount = bytes;
  Step step = add(work, after);
  lane(peer, false, label).steps.push_back(step);
  return step;
}

Schedule::Step Schedule::copy(void *dst, const void *src, int64_t bytes, const Steps &after) {
  if (bytes == 0 || dst == src)
    return kNone;
  Work work = {Kind::Copy};
  work.dst = dst;
  work.src = src;
  work.amount = bytes;
  return add(work, after);
}

Schedule::Step Schedule::reduce(CollDtype dtype, CollReduction reduction,
                                const std::vector<const void *> &srcs, void *dst, int64_t elems,
                                const Steps &after) {
  if (elems == 0)
    return kNone;
  Work work = {Kind::Reduce, dtype, reduction};
  work.srcsAt = srcs_.size();
  work.numSrcs = static_cast<int32_t>(srcs.size());
  srcs_.insert(srcs_.end(), srcs.begin(), srcs.end());
  work.dst = dst;
  work.amount = elems;
  return add(work, after);
}

Schedule::Step Schedule::divide(CollDtype dtype, void *dst, int64_t elems, int divisor,
                                const Steps &after) {
  if (elems == 0)
    return kNone;
  Work work = {Kind::Divide, dtype};
  work.numSrcs = divisor;
  work.dst = dst;
  work.amount = elems;
  return add(work, after);
}

//===-- running -----------------------------------------------------------------===//

void Schedule::finish(Step step) {
  --remaining_;
  for (int32_t e = work_[static_cast<size_t>(step)].firstEdge; e >= 0;
       e = edges_[static_cast<size_t>(e)].next) {
    Step next = edges_[static_cast<size_t>(e)].to;
    Work &work = work_[static_cast<size_t>(next)];
    bool isLocal = work.kind != Kind::Send && work.kind != Kind::Recv;
    if (--work.missing == 0 && isLocal)
      ready_.push_back(next);
  }
}

Status Schedule::begin(Lane &lane, bool &moved) {
  while (lane.begun < lane.steps.size() && lane.flights.size() < mover_.window()) {
    const Step step = lane.steps[lane.begun];
    const Work &work = work_[static_cast<size_t>(step)];
    if (work.missing > 0)
      return {};
    const bool first = lane.flights.empty();
    Result<std::optional<MessagePart>> part =
        lane.isSend ? mover_.load(mesh_.link(lane.peer), work.src, work.amount, first)
                    : mover_.expect(mesh_.link(lane.peer), work.dst, work.amount, first);
    if (!part)
      return part.status();
    if (!*part)
      return {}; // no room
    lane.flights.push_back({step, **part});
    lane.flights.back().span = lane.trace.begin(site_, lane.steps.size(), work.amount);
    ++lane.begun;
    moved = true;
  }
  return {};
}

// In the order of the steps.
Status Schedule::post(Lane &lane, bool &moved) {
  for (Flight &flight : lane.flights) {
    if (flight.request || flight.isOver)
      continue;
    if (lane.isSend) {
      Result<bool> filled = mover_.isFilled(flight.part);
      if (!filled || !*filled)
        return filled.status();
    }
    Link &link = mesh_.link(lane.peer);
    uint64_t tag = tag_ + lane.label;
    Result<net::Request *> request =
        lane.isSend ? link.send(&flight.part.segment, 1, tag) : link.recv(flight.part.segment, tag);
    if (!request)
      return request.status();
    if (!*request) // no request is free: those in flight use them all
      return &flight == &lane.flights.front() ? mover_.detour(flight.part, lane.isSend)
                                              : Status::okay();
    flight.request = *request;
    lane.trace.tell(flight.span, TracePhase::Posted);
    moved = true;
    if (flight.part.to)
      COLL_RETURN_IF_ERROR(mover_.feed(flight.part, flight.request));
  }
  return {};
}

Status Schedule::test(Lane &lane, bool &moved) {
  for (Flight &flight : lane.flights)
    if (flight.request && flight.part.to)
      COLL_RETURN_IF_ERROR(mover_.feed(flight.part, flight.request));
  for (Flight &flight : lane.flights) {
    if (flight.isOver)
      continue;
    if (!flight.request)
      return {};
    Result<net::Completion> completion = mesh_.link(lane.peer).test(flight.request, !lane.isSend);
    if (!completion || !completion->done)
      return completion.status();
    lane.trace.parts(flight.span, mesh_, flight.request);
    flight.request = nullptr;
    flight.isOver = moved = true;
    if (lane.isSend)
      continue;
    int64_t expected = work_[static_cast<size_t>(flight.step)].amount;
    if (flight.part.compressed == 0 && completion->bytes != static_cast<uint64_t>(expected))
      return {kCollMismatch, "a message of " + std::to_string(completion->bytes) +
                                 " bytes arrived, expected " + std::to_string(expected)};
    flight.part.segment.bytes = completion->bytes;
    flight.part.pageSlot = completion->slot;
    Result<Mover::Ticket> landing = mover_.unload(flight.part);
    if (!landing)
      return landing.status();
    flight.landing = *landing;
    if (flight.landing != Mover::kDone)
      lane.trace.tell(flight.span, TracePhase::Landing);
  }
  return {};
}

Status Schedule::land(Lane &lane, bool &moved) {
  while (!lane.flights.empty() && lane.flights.front().isOver) {
    Flight &flight = lane.flights.front();
    if (flight.landing != Mover::kDone) {
      Result<bool> done = mover_.isDone(flight.landing);
      if (!done || !*done)
        return done.status();
    }
    mover_.release(flight.part);
    lane.trace.end(flight.span);
    finish(flight.step);
    lane.flights.pop_front();
    moved = true;
  }
  return {};
}

Status Schedule::advanceLane(Lane &lane, bool &moved) {
  COLL_RETURN_IF_ERROR(begin(lane, moved));
  COLL_RETURN_IF_ERROR(post(lane, moved));
  COLL_RETURN_IF_ERROR(test(lane, moved));
  return land(lane, moved);
}

Result<Mover::Ticket> Schedule::begin(const Work &work) {
  switch (work.kind) {
  case Kind::Copy:
    return mover_.copy(work.dst, work.src, work.amount);
  case Kind::Reduce:
    return mover_.reduce(work.dtype, work.reduction, &srcs_[work.srcsAt], work.numSrcs, work.dst,
                         work.amount);
  case Kind::Divide:
    return mover_.divide(work.dtype, work.dst, work.amount, work.numSrcs);
  case Kind::Send:
  case Kind::Recv:
    break;
  }
  return Status::internal("no local step");
}

// Runs one step at a time, so that messages do not have to wait.
Status Schedule::advanceLocal(bool &moved) {
  if (!ready_.empty()) {
    Step step = ready_.front();
    ready_.pop_front();
    Result<Mover::Ticket> ticket = begin(work_[static_cast<size_t>(step)]);
    if (!ticket)
      return ticket.status();
    moved = true;
    if (*ticket == Mover::kDone)
      finish(step);
    else
      busy_.emplace_back(step, *ticket);
  }
  while (!busy_.empty()) {
    Result<bool> done = mover_.isDone(busy_.front().second);
    if (!done)
      return done.status();
    if (!*done)
      break;
    finish(busy_.front().first);
    busy_.pop_front();
    moved = true;
  }
  return {};
}

// Does one round, so that the caller can advance its other operations too, or another thread can
// take over.
Result<bool> Schedule::run(bool &moved, int &failedPeer) {
  for (Lane &lane : lanes_) {
    failedPeer = lane.peer;
    COLL_RETURN_IF_ERROR(advanceLane(lane, moved));
  }
  failedPeer = -1;
  COLL_RETURN_IF_ERROR(advanceLocal(moved));
  return remaining_ == 0;
}

std::vector<int> Schedule::waitingFor() const {
  std::vector<int> peers;
  for (const Lane &lane : lanes_)
    for (const Flight &flight : lane.flights)
      if (!lane.isSend && flight.request) {
        peers.push_back(lane.peer);
        break;
      }
  return peers;
}

} // namespace coll::rt::network
