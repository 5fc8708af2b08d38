#include "runtime/backend/threads/endpoint.h"

#include <algorithm>
#include <sched.h>

namespace coll::rt::threads {

namespace {

// Polls between two looks at the clock.
constexpr int kPollsPerLook = 16;
// Polls without giving way, where every rank has a core.
constexpr int kBusyPolls = 2000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

} // namespace

ThreadsRequest::ThreadsRequest(ThreadsCommunicator &communicator, const Call &call)
    : communicator(communicator) {
  transfer.call = call;
}

Result<std::unique_ptr<Communicator>> ThreadsEndpoint::communicator(std::vector<int> ranks) {
  auto it = std::find(ranks.begin(), ranks.end(), rank_);
  if (it == ranks.end())
    return Status::invalid("rank " + std::to_string(rank_) + " is no member of group " +
                           describeGroup(ranks));
  for (int rank : ranks)
    if (rank < 0 || rank >= world_.numRanks())
      return Status::invalid("group " + describeGroup(ranks) + ": there is no rank " +
                             std::to_string(rank));
  int position = static_cast<int>(it - ranks.begin());
  return std::unique_ptr<Communicator>(
      new ThreadsCommunicator(*this, world_.group(ranks), position));
}

void ThreadsEndpoint::enter() { world_.rank(rank_).present.store(true, std::memory_order_release); }

void ThreadsEndpoint::leave() {
  advanceAll();
  if (!pending_.empty())
    world_.abort({kCollPeer, "rank " + std::to_string(rank_) + " has ended while " +
                                 describe(pending_.front()->call()) + " was in flight"});
  while (!pending_.empty())
    cancel(*pending_.back());
  started_.clear();
  if (world_.rank(rank_).present.exchange(false, std::memory_order_seq_cst))
    world_.wakeAll();
}

Status ThreadsEndpoint::run(ThreadsCommunicator &communicator, const Call &call) {
  ThreadsRequest request(communicator, call);
  begin(request);
  return finish(request);
}

Result<Request *> ThreadsEndpoint::start(ThreadsCommunicator &communicator, const Call &call) {
  started_.push_back(std::make_unique<ThreadsRequest>(communicator, call));
  begin(*started_.back());
  return static_cast<Request *>(started_.back().get());
}

Status ThreadsEndpoint::wait(Request *request) {
  auto it = std::find_if(started_.begin(), started_.end(),
                         [&](const auto &owned) { return owned.get() == request; });
  if (it == started_.end())
    return Status::invalid("no such request is in flight");
  std::unique_ptr<ThreadsRequest> owned = std::move(*it);
  started_.erase(it);
  return finish(*owned);
}

void ThreadsEndpoint::begin(ThreadsRequest &request) {
  Transfer &transfer = request.transfer;
  transfer.rank = rank_;
  if (world_.aborted()) {
    request.outcome = abortedStatus(request);
    request.stage = ThreadsRequest::Stage::Finished;
    return;
  }
  pending_.push_back(&request);
  Group &group = request.communicator.group();
  int position = request.communicator.position();
  if (isTransfer(transfer.call.kind)) {
    bool sends = transfer.call.kind == OpKind::Send;
    transfer.sender = sends ? position : transfer.call.peer;
    group.mailbox(sends ? transfer.call.peer : position).post(world_, transfer);
    request.stage = ThreadsRequest::Stage::Posted;
    return;
  }
  request.number = group.takeNumber(position);
  if (group.post(request.number, position, transfer.call))
    request.stage = ThreadsRequest::Stage::Posted;
}

Status ThreadsEndpoint::finish(ThreadsRequest &request) {
  if (request.stage != ThreadsRequest::Stage::Finished && !spin(request))
    waitFor(request);
  return std::move(request.outcome);
}

bool ThreadsEndpoint::spin(ThreadsRequest &request) {
  if (advance(request) && request.stage == ThreadsRequest::Stage::Finished)
    return true;
  Clock::time_point end = Clock::now() + std::chrono::microseconds(world_.spinUs());
  int busy = world_.coreForEachRank() ? kBusyPolls : 0;
  do {
    for (int i = 0; i < kPollsPerLook; ++i) {
      if (busy-- > 0)
        relax();
      else
        sched_yield();
      if (advance(request) && request.stage == ThreadsRequest::Stage::Finished)
        return true;
    }
  } while (Clock::now() < end);
  return false;
}

void ThreadsEndpoint::waitFor(ThreadsRequest &request) {
  Clock::time_point deadline = Clock::now() + std::chrono::microseconds(world_.timeoutUs());
  Parker &parker = world_.rank(rank_).parker;
  bool announced = false;
  while (request.stage != ThreadsRequest::Stage::Finished) {
    // Before looking: what changes after the look also changes the ticket.
    uint32_t ticket = parker.ticket();
    if (advanceAll())
      continue;
    if (world_.aborted()) {
      cancel(request);
      break;
    }
    if (Status missing = findMissingPeer(request); !missing.ok()) {
      if (!advanceAll()) // it may have completed the request before it left
        fail(request, missing);
      continue;
    }
    int64_t left =
        std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      fail(request, timeoutStatus(request));
      break;
    }
    if (!announced)
      setBlockedIn(&request.call());
    announced = true;
    parker.park(ticket, left);
  }
  if (announced)
    setBlockedIn(nullptr);
}

bool ThreadsEndpoint::advanceAll() {
  bool moved = false;
  for (size_t i = 0; i < pending_.size();) {
    ThreadsRequest *request = pending_[i];
    moved |= advance(*request);
    if (i < pending_.size() && pending_[i] == request)
      ++i; // it is still there
  }
  return moved;
}

bool ThreadsEndpoint::advance(ThreadsRequest &request) {
  using Stage = ThreadsRequest::Stage;
  bool moved = false;
  if (isTransfer(request.call().kind)) {
    Transfer::State state = request.transfer.state.load(std::memory_order_acquire);
    if (state == Transfer::State::Waiting)
      return false;
    request.outcome = request.transfer.failure;
    request.stage = Stage::Finished;
    moved = true;
  } else {
    moved = advanceCollective(request);
  }
  if (request.stage == Stage::Finished)
    pending_.erase(std::find(pending_.begin(), pending_.end(), &request));
  return moved;
}

bool ThreadsEndpoint::advanceCollective(ThreadsRequest &request) {
  using Stage = ThreadsRequest::Stage;
  Group &group = request.communicator.group();
  int position = request.communicator.position();
  bool moved = false;
  if (request.stage == Stage::Deferred) {
    if (!group.post(request.number, position, request.call()))
      return false;
    request.stage = Stage::Posted;
    moved = true;
  }
  Slot &slot = group.slot(request.number);
  SlotState state = slot.state.load(std::memory_order_acquire);
  if (state == SlotState::Running) {
    group.help(slot, position);
    state = slot.state.load(std::memory_order_acquire);
  }
  switch (state) {
  case SlotState::Open:
  case SlotState::Preparing:
  case SlotState::Running:
    return moved;
  case SlotState::Done:
    group.release(request.number);
    break;
  case SlotState::Failed:
    request.outcome = slot.failure;
    break;
  case SlotState::Dead:
    // The member that gave up aborts the job, if it has not yet.
    if (!world_.aborted())
      return moved;
    request.outcome = abortedStatus(request);
    break;
  }
  request.stage = Stage::Finished;
  return true;
}

void ThreadsEndpoint::cancel(ThreadsRequest &request) {
  Group &group = request.communicator.group();
  if (isTransfer(request.call().kind)) {
    int receiver =
        request.call().kind == OpKind::Send ? request.call().peer : request.communicator.position();
    if (!group.mailbox(receiver).withdraw(request.transfer))
      while (request.transfer.state.load(std::memory_order_acquire) == Transfer::State::Waiting)
        sched_yield();
  } else if (request.stage == ThreadsRequest::Stage::Posted) {
    group.cancel(request.number, request.communicator.position());
  }
  // What had been completed in the meantime keeps its own outcome.
  if (request.stage == ThreadsRequest::Stage::Posted && advance(request) &&
      request.stage == ThreadsRequest::Stage::Finished)
    return;
  request.outcome = abortedStatus(request);
  request.stage = ThreadsRequest::Stage::Finished;
  pending_.erase(std::find(pending_.begin(), pending_.end(), &request));
}

void ThreadsEndpoint::fail(ThreadsRequest &request, const Status &failure) {
  world_.abort(failure);
  cancel(request);
  if (request.outcome.code() == kCollAborted)
    request.outcome = failure;
}

} // namespace coll::rt::threads
