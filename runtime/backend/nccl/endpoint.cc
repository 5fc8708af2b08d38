#include "runtime/backend/nccl/endpoint.h"

#include "runtime/backend/nccl/types.h"
#include "runtime/base/dtype.h"
#include "runtime/call_check.h"

#include <algorithm>
#include <cstring>
#include <sched.h>
#include <thread>

namespace coll::rt::nccl {

namespace {

// Between two looks at the health of the job and of NCCL.
constexpr int kPollsPerLook = 32;
constexpr int64_t kMaxPauseUs = 200;
// Calls on streams that are not compared yet; then the oldest is waited for.
constexpr size_t kMaxReleased = 32;

} // namespace

NcclEndpoint::~NcclEndpoint() {
  leave();
  Gpu::Scope scope(*gpu_);
  transfers_.clear();
  groups_.clear();
}

Result<Group *> NcclEndpoint::group(std::vector<int> ranks) {
  Result<std::unique_ptr<Communicator>> control = control_->communicator(ranks);
  if (!control)
    return control.status();
  std::unique_ptr<Group> &group = groups_[ranks];
  if (!group) {
    int position = (*control)->position();
    group = std::make_unique<Group>(*gpu_, std::move(ranks), position);
    group->control = control.take();
  }
  return group.get();
}

Result<std::unique_ptr<Communicator>> NcclEndpoint::communicator(std::vector<int> ranks) {
  Result<Group *> made = group(std::move(ranks));
  if (!made)
    return made.status();
  return std::unique_ptr<Communicator>(new NcclCommunicator(*this, **made));
}

void NcclEndpoint::enter() { control_->enter(); }

void NcclEndpoint::leave() {
  Gpu::Scope scope(*gpu_);
  // The comparison of calls on streams may be under way; what it finds is told by the cause.
  if (!over_ && !released_.empty())
    if (Status late = waitUntil([&] { return released_.empty(); }, nullptr); !late.ok())
      fail(nullptr, late);
  advanceAll();
  if (!pending_.empty())
    fail(nullptr, {kCollPeer, "rank " + std::to_string(rank_) + " has ended while " +
                                  describe(pending_.front()->call()) + " was in flight"});
  started_.clear();
  released_.clear();
  control_->leave();
}

void NcclEndpoint::abort(const Status &cause) {
  {
    std::lock_guard<std::mutex> lock(causeMutex_);
    if (cause_.ok())
      cause_ = cause;
  }
  control_->abort(cause);
}

Status NcclEndpoint::health() {
  {
    std::lock_guard<std::mutex> lock(causeMutex_);
    if (!cause_.ok())
      return cause_;
  }
  return control_->health();
}

int NcclEndpoint::gpuOf(const void *data) const {
  dl::CudaPointerInfo info = dl::cudaPointerInfo(gpu_->cuda(), data);
  return info.device || info.managed ? info.ordinal : -1;
}

//===-- calls -------------------------------------------------------------------===//

Status NcclEndpoint::check(const Group &group, const Call &call) const {
  COLL_RETURN_IF_ERROR(supports(call, options_.hasFp8));
  if (call.kind == OpKind::Init || call.kind == OpKind::Barrier)
    return {};
  CallExtents extents = extentsOf(call, group.size(), group.position);
  if (extents.src > 0)
    COLL_RETURN_IF_ERROR(gpu_->check(call.src, "source"));
  if (extents.dst > 0)
    COLL_RETURN_IF_ERROR(gpu_->check(call.dst, "destination"));
  return {};
}

Result<Request *> NcclEndpoint::startChecked(Group &group, const Call &call, bool onCallersStream) {
  Gpu::Scope scope(*gpu_);
  auto made = std::make_unique<NcclRequest>(group, call);
  NcclRequest *request = made.get();
  if (Status checked = check(group, call); !checked.ok())
    return checked.annotate(place(*request));
  request->op.onCallersStream = onCallersStream;
  started_.push_back(std::move(made));
  Status known = health();
  if (!known.ok()) {
    fail(nullptr, known);
    end(*request, abortedStatus(*request));
    return static_cast<Request *>(request);
  }
  pending_.push_back(request);
  if (Status begun = begin(*request); !begun.ok())
    fail(request, begun);
  advanceAll();
  return static_cast<Request *>(request);
}

Status NcclEndpoint::run(Group &group, const Call &call) {
  Result<Request *> request = startChecked(group, call, call.stream != nullptr);
  return request ? finish(static_cast<NcclRequest *>(*request)) : request.status();
}

Result<Request *> NcclEndpoint::start(Group &group, const Call &call) {
  return startChecked(group, call, /*onCallersStream=*/false);
}

Status NcclEndpoint::wait(Request *request) {
  bool known = std::any_of(started_.begin(), started_.end(),
                           [&](const auto &owned) { return owned.get() == request; });
  if (!known)
    return Status::invalid("no such request is in flight");
  return finish(static_cast<NcclRequest *>(request));
}

bool NcclEndpoint::test(Request *request) {
  Gpu::Scope scope(*gpu_);
  auto *own = static_cast<NcclRequest *>(request);
  advanceAll();
  if (Status known = health(); !own->finished && !known.ok())
    fail(nullptr, known);
  return own->finished || mayReturn(*own);
}

// A call on a stream returns when it is on the stream; its comparison goes on.
bool NcclEndpoint::mayReturn(const NcclRequest &request) const {
  return request.finished || (request.call().stream && request.op.stage == LaneOp::Stage::OnStream);
}

Status NcclEndpoint::finish(NcclRequest *request) {
  Gpu::Scope scope(*gpu_);
  Status waited = waitUntil([&] { return mayReturn(*request); }, request);
  if (!waited.ok() && !request->finished)
    fail(request, waited);
  auto it = std::find_if(started_.begin(), started_.end(),
                         [&](const auto &owned) { return owned.get() == request; });
  std::unique_ptr<NcclRequest> owned = std::move(*it);
  started_.erase(it);
  if (request->finished)
    return std::move(owned->outcome);
  Status ordered;
  if (!request->op.onCallersStream) {
    auto *stream = static_cast<dl::CudaStream>(request->call().stream);
    ordered = gpu_->context()->check(gpu_->cuda().streamWaitEvent(stream, request->op.done, 0),
                                     "cuStreamWaitEvent");
    request->ordered = true;
  }
  released_.push_back(std::move(owned));
  sweep();
  if (released_.size() <= kMaxReleased)
    return ordered;
  NcclRequest *oldest = released_.front().get();
  Status late = waitUntil([&] { return oldest->finished; }, oldest);
  if (!late.ok() && !oldest->finished)
    fail(oldest, late);
  sweep();
  return late.ok() ? ordered : late;
}

// Forgets what has been compared; a failure has ended the job.
void NcclEndpoint::sweep() {
  released_.erase(std::remove_if(released_.begin(), released_.end(),
                                 [](const auto &request) { return request->finished; }),
                  released_.end());
}

Status NcclEndpoint::prepare(Group &group) {
  Call call;
  call.kind = OpKind::Init;
  return run(group, call);
}

Status NcclEndpoint::settle(Group &group) {
  Status failure;
  Status waited = waitUntil(
      [&] {
        failure = group.lane.health();
        return !failure.ok() || group.lane.ready();
      },
      nullptr);
  if (waited.ok())
    waited = failure;
  if (!waited.ok())
    fail(nullptr, waited);
  return waited;
}

Status NcclEndpoint::synchronize(void *stream) {
  Gpu::Scope scope(*gpu_);
  Result<dl::CudaEvent> event = gpu_->record(static_cast<dl::CudaStream>(stream));
  if (!event)
    return event.status();
  Status failure;
  auto reached = [&] {
    Result<bool> now = gpu_->reached(*event);
    failure = now.ok() ? Status() : now.status();
    return !now.ok() || *now;
  };
  Status waited = waitUntil([&] { return reached() && released_.empty(); }, nullptr);
  if (waited.ok())
    waited = failure;
  if (!waited.ok())
    fail(nullptr, waited);
  gpu_->put(*event);
  return waited;
}

Status NcclEndpoint::waitUntil(const std::function<bool()> &done, const NcclRequest *request) {
  Clock::time_point begin = Clock::now();
  for (int polls = 1;; ++polls) {
    advanceAll();
    sweep();
    // Without a request of its own to tell it, a failure of any is told here.
    if (done())
      return over_ && !request ? health() : Status();
    if (polls % kPollsPerLook == 0 || over_) {
      if (Status known = health(); !known.ok()) {
        if (!over_)
          fail(nullptr, known);
        return request ? Status(request->outcome) : known;
      }
      std::string where = request ? place(*request) : "rank " + std::to_string(rank_);
      for (auto &[ranks, group] : groups_)
        COLL_RETURN_IF_ERROR(group->lane.health().annotate(where));
      for (auto &[pair, transfer] : transfers_)
        COLL_RETURN_IF_ERROR(transfer->lane.health().annotate(where));
    }
    int64_t us =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
    if (us >= options_.timeoutUs)
      return timeoutStatus(request);
    if (us <= options_.spinUs)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(std::min(us / 8, kMaxPauseUs)));
  }
}

//===-- beginning ---------------------------------------------------------------===//

Status NcclEndpoint::begin(NcclRequest &request) {
  if (!isTransfer(request.call().kind))
    return beginCollective(request);
  bool self = request.group.rankAt(request.call().peer) == rank_;
  return self ? beginToItself(request) : beginTransfer(request);
}

Status NcclEndpoint::beginCollective(NcclRequest &request) {
  Group &group = request.group;
  const OpKind kind = request.call().kind;
  const bool meets = kind == OpKind::Init || kind == OpKind::Barrier;
  request.lane = &group.lane;
  if (meets && !request.call().stream)
    request.op.stage = LaneOp::Stage::OnStream; // the GPU has no part in it
  else
    group.lane.put(&request.op);
  const bool makesLane = !group.introduced && !group.lane.begun();
  group.introduced = true;
  if (!makesLane && !meets && !options_.checksCalls) {
    request.agreed = true;
    return {};
  }
  request.card = cardOf(request.call());
  if (makesLane && group.position == 0) {
    COLL_RETURN_IF_ERROR(dl::ncclStatus(gpu_->nccl(), gpu_->nccl().getUniqueId(&request.card.id),
                                        "ncclGetUniqueId"));
    request.card.hasId = 1;
  }
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

//===-- going on ----------------------------------------------------------------===//

void NcclEndpoint::advanceAll() {
  for (size_t i = 0; i < pending_.size() && !over_;) {
    NcclRequest *request = pending_[i];
    if (Status moved = advance(*request); !moved.ok()) {
      fail(request, moved);
      return;
    }
    if (i < pending_.size() && pending_[i] == request)
      ++i; // it is still there
  }
}

Status NcclEndpoint::advance(NcclRequest &request) {
  if (!request.agreed) {
    OpKind kind = request.call().kind;
    COLL_RETURN_IF_ERROR(!isTransfer(kind)      ? advanceCollective(request)
                         : kind == OpKind::Send ? advanceSend(request)
                                                : advanceRecv(request));
  }
  if (request.lane)
    COLL_RETURN_IF_ERROR(request.lane->poll().annotate(place(request)));
  Status failure;
  if (isComplete(request, failure))
    end(request, failure);
  return failure;
}

bool NcclEndpoint::isComplete(NcclRequest &request, Status &failure) {
  if (!request.agreed || request.op.stage != LaneOp::Stage::OnStream)
    return false;
  // That the communicator is made is all that init asks for.
  if (request.call().kind == OpKind::Init && !request.lane->ready())
    return false;
  if (request.call().stream)
    return request.op.onCallersStream || request.ordered;
  if (!request.op.done)
    return true;
  Result<bool> reached = gpu_->reached(request.op.done);
  if (!reached)
    failure = reached.status().annotate(place(request));
  return reached.ok() && *reached;
}

Status NcclEndpoint::collect(Request *&request) {
  Request *ended = request;
  request = nullptr;
  return control_->wait(ended);
}

Status NcclEndpoint::advanceCollective(NcclRequest &request) {
  if (!heard(request.heard))
    return {};
  Group &group = request.group;
  COLL_RETURN_IF_ERROR(collect(request.heard).annotate(place(request)));
  std::vector<Card> cards(static_cast<size_t>(group.size()));
  for (size_t i = 0; i < cards.size(); ++i)
    std::memcpy(&cards[i], request.theirs.data() + i * Card::kBytes, sizeof(Card));
  if (Status agree = compareCards(cards, group.ranks); !agree.ok()) {
    // All members find the same. They meet once more, so that none ends the job before the
    // others know why.
    Call meeting;
    (void)group.control->run(meeting);
    return agree;
  }
  request.agreed = true;
  if (group.lane.begun())
    return {};
  if (!cards[0].hasId)
    return Status::internal("no identity for the communicator of " + describeGroup(group.ranks));
  return group.lane.join(cards[0].id);
}

//===-- ending ------------------------------------------------------------------===//

std::string NcclEndpoint::place(const NcclRequest &request) const {
  return describe(request.call()) + " on rank " + std::to_string(rank_) + ", group " +
         describeGroup(request.group.ranks);
}

Status NcclEndpoint::abortedStatus(const NcclRequest &request) {
  std::lock_guard<std::mutex> lock(causeMutex_);
  return {kCollAborted, place(request) + ": given up because of a failure: " + cause_.toString()};
}

Status NcclEndpoint::timeoutStatus(const NcclRequest *request) const {
  std::string within =
      ": no completion within " + std::to_string(options_.timeoutUs / 1000) + " ms";
  if (!request)
    return {kCollTimeout, "rank " + std::to_string(rank_) + within};
  const Group &group = request->group;
  std::string text = place(*request) + within;
  if (request->agreed)
    return {kCollTimeout, text + " on the GPU, though all members have made the call"};
  const char *separator = "; waiting for ";
  for (int i = 0; i < group.size(); ++i)
    if (isTransfer(request->call().kind) ? i == request->call().peer : i != group.position) {
      text += separator + ("rank " + std::to_string(group.rankAt(i)));
      separator = " or ";
    }
  return {kCollTimeout, text};
}

void NcclEndpoint::end(NcclRequest &request, Status outcome) {
  // Only for what is cut off: these return at once then, and give the buffers back.
  for (Request **left : {&request.told, &request.heard})
    if (*left)
      (void)collect(*left);
  if (request.lane)
    request.lane->forget(&request.op);
  gpu_->put(request.op.done);
  request.op.done = nullptr;
  request.outcome = std::move(outcome);
  request.finished = true;
  pending_.erase(std::remove(pending_.begin(), pending_.end(), &request), pending_.end());
}

void NcclEndpoint::fail(NcclRequest *request, const Status &failure) {
  abort(failure);
  over_ = true;
  // Before any request lets go of its buffers.
  for (auto &[ranks, group] : groups_)
    group->lane.kill();
  for (auto &[pair, transfer] : transfers_)
    transfer->lane.kill();
  gpu_->drain(gpu_->stream());
  if (request && !request->finished)
    end(*request, failure);
  while (!pending_.empty()) {
    NcclRequest &left = *pending_.back();
    end(left, left.verdict.ok() ? abortedStatus(left) : left.verdict);
  }
}

} // namespace coll::rt::nccl
