#include "runtime/backend/net/endpoint.h"

#include "runtime/backend/net/algorithms/apply.h"
#include "runtime/backend/net/collective.h"
#include "runtime/backend/net/transfer.h"
#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::network {

namespace {

// Limit of collectives of a group, and of transfers with a peer, in flight at once. Together they
// leave some of a connection's requests free.
constexpr int kMaxActive = 8;
constexpr int kMaxTransfers = 64;
// The number of polls between two checks for control messages; each check costs a system call per
// peer.
constexpr int kPollsPerLook = 8;

} // namespace

NetEndpoint::NetEndpoint(std::unique_ptr<Mesh> mesh, const EndpointOptions &options,
                         Progress &progress)
    : progress_(progress), mesh_(std::move(mesh)), options_(options), mover_(createHostMover()),
      gpu_(mesh_->transport(), options.gpu), idle_(options.spinUs),
      activeTransfers_(static_cast<size_t>(mesh_->numRanks())) {
  progress_.add(*this);
}

NetEndpoint::~NetEndpoint() {
  progress_.remove(*this);
  leave();
  mesh_->close();
}

Result<std::unique_ptr<Communicator>> NetEndpoint::communicator(std::vector<int> ranks) {
  auto it = std::find(ranks.begin(), ranks.end(), rank());
  if (it == ranks.end())
    return Status::invalid("rank " + std::to_string(rank()) + " is not a member of group " +
                           describeGroup(ranks));
  for (int member : ranks)
    if (member < 0 || member >= mesh_->numRanks())
      return Status::invalid("group " + describeGroup(ranks) + ": there is no rank " +
                             std::to_string(member));
  std::unique_ptr<Group> &group = groups_[ranks];
  if (!group) {
    group = std::make_unique<Group>();
    group->position = static_cast<int>(it - ranks.begin());
    group->hash = groupHash(ranks);
    group->ranks = std::move(ranks);
  }
  return std::unique_ptr<Communicator>(new NetCommunicator(*this, *group));
}

void NetEndpoint::enter() {
  Turn turn(*this);
  ++epoch_;
}

void NetEndpoint::leave() {
  Turn turn(*this);
  while (advanceAll()) {
  }
  if (!pending_.empty())
    abortJob({kCollPeer, "rank " + std::to_string(rank()) + " has ended while " +
                             describe(pending_.front()->call) + " was in flight"},
             /*key=*/0);
  if (aborted())
    cancelAll();
  started_.clear();
  if (leftEpoch_ < epoch_ && !mesh_->closed())
    mesh_->sendLeft(epoch_);
  leftEpoch_ = epoch_;
}

Status NetEndpoint::run(Group &group, const Call &call) {
  NetRequest request(group, call);
  COLL_RETURN_IF_ERROR(prepare(request));
  Turn turn(*this);
  begin(request);
  return finish(request);
}

Result<Request *> NetEndpoint::start(Group &group, const Call &call) {
  auto request = std::make_unique<NetRequest>(group, call);
  COLL_RETURN_IF_ERROR(prepare(*request));
  Turn turn(*this);
  begin(*request);
  started_.push_back(std::move(request));
  return static_cast<Request *>(started_.back().get());
}

Status NetEndpoint::wait(Request *request) {
  auto it = std::find_if(started_.begin(), started_.end(),
                         [&](const auto &owned) { return owned.get() == request; });
  if (it == started_.end())
    return Status::invalid("no such request is in flight");
  std::unique_ptr<NetRequest> owned = std::move(*it);
  started_.erase(it);
  Turn turn(*this);
  return finish(*owned);
}

//===-- turns -------------------------------------------------------------------===//

// The progress thread releases the mutex after each step, and does not take it while a turn waits.
NetEndpoint::Turn::Turn(NetEndpoint &endpoint)
    : endpoint_(endpoint), lock_(endpoint.mutex_, std::try_to_lock) {
  if (lock_)
    return;
  endpoint.wanted_.store(true, std::memory_order_relaxed);
  lock_.lock();
  endpoint.wanted_.store(false, std::memory_order_relaxed);
}

NetEndpoint::Turn::Turn(NetEndpoint &endpoint, std::try_to_lock_t)
    : endpoint_(endpoint), lock_(endpoint.mutex_, std::try_to_lock) {}

NetEndpoint::Turn::~Turn() {
  if (!lock_)
    return;
  const bool leavesWork = !endpoint_.pending_.empty();
  lock_.unlock();
  if (leavesWork)
    endpoint_.progress_.wake();
}

Progress::Driven::Found NetEndpoint::look() {
  if (wanted_.load(std::memory_order_relaxed))
    return Found::Nothing;
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock || pending_.empty())
    return Found::Nothing;
  gpu_.goBesideCaptures();
  return poll(/*waited=*/nullptr) ? Found::Moved : Found::Waiting;
}

//===-- beginning ---------------------------------------------------------------===//

// Called without the mutex, so that earlier operations progress while it waits for the call's
// stream.
Status NetEndpoint::prepare(const NetRequest &request) {
  if (request.call.kind == OpKind::RootUpdate)
    return {kCollUnsupported, place(request) + ": backend net does not support root updates"};
  if (!request.call.stream)
    return {};
  return synchronize(request.call.stream).annotate(place(request));
}

void NetEndpoint::begin(NetRequest &request) {
  if (!isTransfer(request.call.kind))
    request.number = request.group.next++;
  if (aborted()) {
    request.outcome = abortedStatus(request);
    request.stage = NetRequest::Stage::Finished;
    return;
  }
  pending_.push_back(&request);
  advance(request);
}

// Earlier operations of the same kind begin first.
bool NetEndpoint::mayBegin(const NetRequest &request) const {
  if (!isTransfer(request.call.kind))
    return request.group.active < kMaxActive;
  int peer = request.group.ranks[static_cast<size_t>(request.call.peer)];
  return activeTransfers_[static_cast<size_t>(peer)] < kMaxTransfers;
}

Status NetEndpoint::beginNow(NetRequest &request) {
  Group &group = request.group;
  request.stage = NetRequest::Stage::Running;
  if (isTransfer(request.call.kind)) {
    int peer = group.ranks[static_cast<size_t>(request.call.peer)];
    ++activeTransfers_[static_cast<size_t>(peer)];
    if (peer == rank())
      return beginToItself(request);
  } else {
    ++group.active;
  }
  Result<std::unique_ptr<Activity>> activity = makeActivity(request);
  if (activity.ok())
    request.activity = activity.take();
  return activity.status();
}

Result<std::unique_ptr<Activity>> NetEndpoint::makeActivity(NetRequest &request) {
  Group &group = request.group;
  const int64_t n = static_cast<int64_t>(group.ranks.size());
  const uint64_t transfer = transfers_;
  auto make = [&](Mover &mover, const Call &call) -> std::unique_ptr<Activity> {
    if (!isTransfer(call.kind))
      return std::make_unique<Collective>(*mesh_, mover, group.ranks, group.position,
                                          request.number, call, options_.collectives);
    TransferPlace place = {group.hash, rank(), group.ranks[static_cast<size_t>(call.peer)], &call};
    if (call.kind == OpKind::Send)
      return std::make_unique<Sending>(*mesh_, mover, place, transfer);
    return std::make_unique<Receiving>(*mesh_, mover, place);
  };
  const Call &call = request.call;
  if (call.kind == OpKind::Send)
    ++transfers_;
  Result<GpuMover *> gpu = gpu_.moverFor(call, n, group.position);
  if (!gpu)
    return gpu.status();
  if (!*gpu)
    return make(*mover_, call);
  if (isTransfer(call.kind) ? !isInline(call) : !isSmall(call, n, options_.collectives))
    return make(**gpu, call);
  int64_t source = isTransfer(call.kind) ? call.count * dtypeSize(call.dtype)
                                         : contribution(call, n, group.position);
  return HostDetour::create(**gpu, call, call.kind == OpKind::Recv ? 0 : source,
                            destinationBytes(call, n),
                            [&](const Call &onHost) { return make(*mover_, onHost); });
}

// If the other half was started, it completes both.
Status NetEndpoint::beginToItself(NetRequest &request) {
  const Call &mine = request.call;
  for (NetRequest *other : pending_) {
    const Call &call = other->call;
    if (other->stage != NetRequest::Stage::Running || other->activity ||
        &other->group != &request.group || call.kind == mine.kind || call.tag != mine.tag ||
        call.peer != mine.peer || !isTransfer(call.kind))
      continue;
    bool sends = mine.kind == OpKind::Send;
    const Call &send = sends ? mine : call, &recv = sends ? call : mine;
    Status fits = compareTransfer(rank(), signatureOf(send), describe(send), rank(),
                                  signatureOf(recv), describe(recv));
    if (fits.ok() && send.count > 0 && send.src != recv.dst)
      fits = gpu_.copy(recv.dst, send.src, send.count * dtypeSize(send.dtype));
    end(*other, fits);
    end(request, fits);
    if (!fits.ok())
      abortJob(fits, /*key=*/0);
    return {};
  }
  return {};
}

Status NetEndpoint::synchronize(void *stream) { return gpu_.synchronize(stream); }

int NetEndpoint::gpuOf(const void *data) const { return network::gpuOf(data); }

//===-- going on ----------------------------------------------------------------===//

// True if something moved.
bool NetEndpoint::advance(NetRequest &request) {
  if (request.stage == NetRequest::Stage::Deferred) {
    if (!mayBegin(request))
      return false;
    Status begun = beginNow(request);
    if (!begun.ok())
      fail(request, begun);
    if (request.stage == NetRequest::Stage::Finished)
      return true;
  }
  if (!request.activity)
    return false; // to itself
  bool moved = false;
  Result<bool> done = request.activity->advance(moved);
  if (!done) {
    fail(request, failureOf(request, done.status()));
    return true;
  }
  if (*done)
    end(request, {});
  return moved || *done;
}

bool NetEndpoint::advanceAll() {
  bool moved = false;
  for (size_t i = 0; i < pending_.size() && !aborted();) {
    NetRequest *request = pending_[i];
    moved |= advance(*request);
    if (i < pending_.size() && pending_[i] == request)
      ++i; // it is still in flight
  }
  return moved;
}

void NetEndpoint::end(NetRequest &request, Status outcome) {
  if (request.stage == NetRequest::Stage::Running) {
    if (isTransfer(request.call.kind))
      --activeTransfers_[static_cast<size_t>(
          request.group.ranks[static_cast<size_t>(request.call.peer)])];
    else
      --request.group.active;
  }
  request.activity.reset();
  request.outcome = std::move(outcome);
  request.stage = NetRequest::Stage::Finished;
  pending_.erase(std::find(pending_.begin(), pending_.end(), &request));
}

Status NetEndpoint::finish(NetRequest &request) {
  if (request.stage != NetRequest::Stage::Finished)
    waitFor(request);
  return std::move(request.outcome);
}

bool NetEndpoint::poll(NetRequest *waited) {
  bool moved = advanceAll();
  if (pending_.empty() || (waited && waited->stage == NetRequest::Stage::Finished))
    return true;
  if (++polls_ % kPollsPerLook == 0)
    lookForAborts();
  Status missing;
  if (aborted())
    cancelAll();
  else if (NetRequest *withoutPeer = moved ? nullptr : missesPeer(missing))
    fail(waited ? *waited : *withoutPeer,
         !waited || waited == withoutPeer
             ? missing
             : Status(missing.code(), missing.message() + " (seen while waiting for another)"));
  return moved || pending_.empty();
}

// If the progress thread is advancing the requests, test() leaves them to it.
bool NetEndpoint::test(Request *request) {
  auto *own = static_cast<NetRequest *>(request);
  if (own->stage == NetRequest::Stage::Finished)
    return true;
  if (Turn turn(*this, std::try_to_lock); turn.isOwn())
    poll(own);
  return own->stage == NetRequest::Stage::Finished;
}

void NetEndpoint::waitFor(NetRequest &request) {
  Clock::time_point deadline = Clock::now() + std::chrono::microseconds(options_.timeoutUs);
  idle_.reset();
  while (request.stage != NetRequest::Stage::Finished) {
    if (poll(&request)) {
      idle_.reset();
    } else if (Clock::now() >= deadline) {
      fail(request, timeoutStatus(request));
    } else {
      idle_.pause();
    }
  }
}

// If a peer has ended without a message, the end of its connection shows it.
Status NetEndpoint::health() {
  Turn turn(*this);
  if (!aborted())
    lookForAborts();
  if (!aborted())
    for (int peer = 0; peer < mesh_->numRanks(); ++peer)
      if (peer != rank() && mesh_->link(peer).isDown() && !mesh_->link(peer).hasLeft(epoch_))
        abortJob({kCollPeer, "rank " + std::to_string(peer) + " is gone"}, /*key=*/0);
  if (!aborted())
    return {};
  std::lock_guard<std::mutex> lock(causeMutex_);
  return cause_;
}

void NetEndpoint::lookForAborts() {
  if (std::optional<Control> abort = mesh_->poll())
    abortJob(abort->cause, abort->key);
}

//===-- failing -----------------------------------------------------------------===//

// The first cause is kept and sent to every rank. A rank that has received it may close its
// connections; the others must not take that for the cause.
void NetEndpoint::abortJob(const Status &cause, uint64_t key) {
  {
    std::lock_guard<std::mutex> lock(causeMutex_);
    if (aborted())
      return;
    cause_ = cause;
    causeKey_ = key;
    aborted_.store(true, std::memory_order_release);
  }
  mesh_->sendAbort(cause, key);
  idle_.wake();
}

void NetEndpoint::fail(NetRequest &request, const Status &failure) {
  // If there is a report of another rank, it says more than the end of a connection.
  if (failure.code() == kCollPeer)
    lookForAborts();
  bool isFirst = !aborted();
  abortJob(failure, request.activity ? request.activity->key() : 0);
  close(); // before the request gives its buffers back
  if (isFirst)
    end(request, failure);
  cancelAll();
}

// Only closing makes the transport give up the buffers. Drain first: until it is idle, the kernel
// may still write pages of the bounce pool that other connections will reuse.
void NetEndpoint::close() {
  gpu_.drain();
  mesh_->close();
}

void NetEndpoint::cancelAll() {
  close();
  while (!pending_.empty())
    end(*pending_.back(), abortedStatus(*pending_.back()));
}

} // namespace coll::rt::network
