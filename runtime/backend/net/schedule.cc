#include "runtime/backend/net/schedule.h"

namespace coll::rt::network {

Schedule::~Schedule() {
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
  lanes_.push_back({peer, isSend, label, {}, 0, 0, {}});
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

Status Schedule::post(Lane &lane, bool &moved) {
  while (lane.posted < lane.steps.size() && lane.posted - lane.done < kWindow) {
    const Work &work = work_[static_cast<size_t>(lane.steps[lane.posted])];
    if (work.missing > 0)
      return {};
    void *data = lane.isSend ? const_cast<void *>(work.src) : work.dst;
    net::Segment segment = {data, static_cast<uint64_t>(work.amount),
                            mover_.registration(data, work.amount)};
    Link &link = mesh_.link(lane.peer);
    uint64_t tag = tag_ + lane.label;
    Result<net::Request *> request =
        lane.isSend ? link.send(&segment, 1, tag) : link.recv(segment, tag);
    if (!request)
      return request.status();
    if (!*request)
      return {}; // too many are under way on this connection
    lane.requests.push_back(*request);
    ++lane.posted;
    moved = true;
  }
  return {};
}

Status Schedule::advanceLane(Lane &lane, bool &moved) {
  COLL_RETURN_IF_ERROR(post(lane, moved));
  while (!lane.requests.empty()) {
    Result<net::Completion> completion =
        mesh_.link(lane.peer).test(lane.requests.front(), !lane.isSend);
    if (!completion)
      return completion.status();
    if (!completion->done)
      return {};
    Step step = lane.steps[lane.done];
    int64_t expected = work_[static_cast<size_t>(step)].amount;
    if (!lane.isSend && completion->bytes != static_cast<uint64_t>(expected))
      return {kCollMismatch, "a message of " + std::to_string(completion->bytes) + " bytes where " +
                                 std::to_string(expected) + " were to come"};
    lane.requests.pop_front();
    ++lane.done;
    finish(step);
    moved = true;
    COLL_RETURN_IF_ERROR(post(lane, moved));
  }
  return {};
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

// One step at a time, so that messages are not kept waiting.
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

Result<bool> Schedule::run(bool &moved, int &failedPeer) {
  for (bool again = true; again && remaining_ > 0;) {
    again = false;
    for (Lane &lane : lanes_) {
      failedPeer = lane.peer;
      COLL_RETURN_IF_ERROR(advanceLane(lane, again));
    }
    failedPeer = -1;
    COLL_RETURN_IF_ERROR(advanceLocal(again));
    moved |= again;
  }
  return remaining_ == 0;
}

std::vector<int> Schedule::waitingFor() const {
  std::vector<int> peers;
  for (const Lane &lane : lanes_)
    if (!lane.isSend && !lane.requests.empty())
      peers.push_back(lane.peer);
  return peers;
}

} // namespace coll::rt::network
