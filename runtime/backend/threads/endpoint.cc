#include "runtime/backend/threads/endpoint.h"

#include <algorithm>
#include <sched.h>

namespace coll::rt::threads {

namespace {

// The number of polls between two checks of the clock.
constexpr int kPollsPerLook = 16;
// Polls without a pause, if every rank has a core: peers that arrive at almost the same time are
// then noticed at once.
constexpr int kEagerPolls = 200;
// Polls without yielding, if every rank has a core.
constexpr int kBusyPolls = 2000;
constexpr std::chrono::microseconds kLongYield{500};

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
    return Status::invalid("rank " + std::to_string(rank_) + " is not a member of group " +
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

namespace {

Status takes(const Call &call) {
  if (call.kind != OpKind::RootUpdate)
    return {};
  return {kCollUnsupported, describe(call) + ": backend threads does not support root updates"};
}

} // namespace

Status ThreadsEndpoint::run(ThreadsCommunicator &communicator, const Call &call) {
  COLL_RETURN_IF_ERROR(takes(call));
  if (communicator.group().isSmall(call) && !world_.aborted())
    return runSmall(communicator, call);
  ThreadsRequest request(communicator, call);
  begin(request);
  return finish(request);
}

Status ThreadsEndpoint::runSmall(ThreadsCommunicator &communicator, const Call &call) {
  Group &group = communicator.group();
  int position = communicator.position();
  uint64_t number = group.takeNumber(position);
  bool posted = group.post(number, position, call, /*small=*/true);
  int seen = 0;
  for (int i = 0; posted && i < (world_.coreForEachRank() ? kEagerPolls : 1); ++i)
    if (group.advanceSmall(number, position, call, seen) == SlotState::Done)
      return {};
  ThreadsRequest request(communicator, call);
  request.number = number;
  request.small = true;
  request.seen = seen;
  request.stage = posted ? ThreadsRequest::Stage::Posted : ThreadsRequest::Stage::Deferred;
  pending_.push_back(&request);
  return finish(request);
}

Result<Request *> ThreadsEndpoint::start(ThreadsCommunicator &communicator, const Call &call) {
  COLL_RETURN_IF_ERROR(takes(call));
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

bool ThreadsEndpoint::test(Request *request) {
  auto *own = static_cast<ThreadsRequest *>(request);
  advanceAll();
  if (own->stage == ThreadsRequest::Stage::Finished)
    return true;
  if (world_.aborted())
    cancel(*own);
  else if (Status missing = findMissingPeer(*own); !missing.ok() && !advanceAll())
    fail(*own, missing);
  return own->stage == ThreadsRequest::Stage::Finished;
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
  request.small = group.isSmall(transfer.call);
  if (!post(request))
    return;
  // This rank may compute for long before it checks again, while the others sleep: the last rank
  // that posts must see all postings.
  if (request.small)
    advance(request);
}

bool ThreadsEndpoint::post(ThreadsRequest &request) {
  if (!request.communicator.group().post(request.number, request.communicator.position(),
                                         request.call(), request.small))
    return false;
  request.stage = ThreadsRequest::Stage::Posted;
  // If several members post at the same time and each checks once, at least one of them sees all.
  if (request.small)
    Parker::fence();
  return true;
}

Status ThreadsEndpoint::finish(ThreadsRequest &request) {
  if (request.stage != ThreadsRequest::Stage::Finished && !spin(request))
    waitFor(request);
  return std::move(request.outcome);
}

bool ThreadsEndpoint::spin(ThreadsRequest &request) {
  auto isFinished = [&] {
    return advance(request) && request.stage == ThreadsRequest::Stage::Finished;
  };
  if (isFinished())
    return true;
  const bool sleepsEarly = earlySleeps_ > 0;
  if (sleepsEarly)
    --earlySleeps_;
  Clock::time_point now = Clock::now();
  const Clock::time_point end =
      now + std::chrono::microseconds(sleepsEarly ? world_.earlySpinUs() : world_.spinUs());
  for (int polls = world_.coreForEachRank() ? kBusyPolls : 0; polls > 0; polls -= kPollsPerLook) {
    for (int i = 0; i < kPollsPerLook; ++i) {
      relax();
      if (isFinished())
        return true;
    }
    if ((now = Clock::now()) >= end)
      return false;
  }
  while (now < end && !sleepsEarly) {
    const Clock::time_point before = now;
    sched_yield();
    now = Clock::now();
    const bool finished = isFinished(), inVain = !finished && now >= end;
    if (now - before > kLongYield || (inVain && world_.spinUs() > world_.earlySpinUs())) {
      earlySleeps_ = nextEarlySleeps_;
      nextEarlySleeps_ = std::min(4 * nextEarlySleeps_, kMostEarlySleeps);
      return finished;
    }
    if (finished) {
      nextEarlySleeps_ = kEarlySleeps;
      return true;
    }
  }
  return false;
}

void ThreadsEndpoint::waitFor(ThreadsRequest &request) {
  Clock::time_point deadline = Clock::now() + std::chrono::microseconds(world_.timeoutUs());
  Parker &parker = world_.rank(rank_).parker;
  bool told = false;
  while (request.stage != ThreadsRequest::Stage::Finished) {
    // Before the check: a change after the check then ends the sleep.
    parker.announce();
    if (advanceAll())
      continue;
    if (world_.aborted()) {
      cancel(request);
      break;
    }
    if (findMismatch())
      continue;
    if (Status missing = findMissingPeer(request); !missing.ok()) {
      if (!advanceAll()) // the peer may have completed the request before it left
        fail(request, missing);
      continue;
    }
    int64_t left =
        std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      fail(request, timeoutStatus(request));
      break;
    }
    if (!told)
      setBlockedIn(&request.call());
    told = true;
    parker.park(left);
  }
  parker.retract();
  if (told)
    setBlockedIn(nullptr);
}

bool ThreadsEndpoint::findMismatch() {
  for (const ThreadsRequest *request : pending_)
    if (!isTransfer(request->call().kind) && request->stage == ThreadsRequest::Stage::Posted &&
        request->communicator.group().failIfMismatched(request->number))
      return true;
  return false;
}

bool ThreadsEndpoint::advanceAll() {
  bool moved = false;
  for (size_t i = 0; i < pending_.size();) {
    ThreadsRequest *request = pending_[i];
    moved |= advance(*request);
    if (i < pending_.size() && pending_[i] == request)
      ++i; // the request is still pending
  }
  return moved;
}

bool ThreadsEndpoint::advance(ThreadsRequest &request) {
  using Stage = ThreadsRequest::Stage;
  bool moved = false;
  if (isTransfer(request.call().kind)) {
    if (request.transfer.state.load(std::memory_order_acquire) == Transfer::State::Moving)
      request.transfer.help();
    if (!request.transfer.isComplete())
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
    if (!post(request))
      return false;
    moved = true;
  }
  SlotState state = request.small
                        ? group.advanceSmall(request.number, position, request.call(), request.seen)
                        : group.advanceLarge(request.number, position);
  switch (state) {
  case SlotState::Open:
  case SlotState::Preparing:
  case SlotState::Running:
    return moved;
  case SlotState::Done:
    break;
  case SlotState::Failed:
    request.outcome = group.slot(request.number).failure();
    break;
  case SlotState::Dead:
    // The member that gave up aborts the job, unless it has already done so.
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
    // If it was matched, only the data has yet to be moved.
    if (!group.mailbox(receiver).withdraw(request.transfer))
      while (!request.transfer.isComplete())
        sched_yield();
  } else if (request.stage == ThreadsRequest::Stage::Posted) {
    group.cancel(request.number, request.communicator.position(), request.small);
  }
  // A request that completed meanwhile keeps its own outcome.
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
