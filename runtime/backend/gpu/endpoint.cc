#include "runtime/backend/gpu/endpoint.h"

#include "runtime/backend/call/check.h"
#include "runtime/base/dtype.h"

#include <algorithm>
#include <sched.h>
#include <thread>
#include <utility>

namespace coll::rt::gpu {

namespace {

// The number of polls between two checks of the health of the job and of the engine.
constexpr int kPollsPerLook = 32;
constexpr int64_t kMaxPauseUs = 200;
// The most calls on streams that may be waiting to be compared; after that, waits for the oldest.
constexpr size_t kMaxReleased = 32;
// Limits the calls on streams that the GPU has not finished to kCallsPerMark * (kMaxMarks + 1). The
// driver accepts about 1,000 launches, records and waits, several of which are one call of NCCL,
// and then blocks in the next one, where neither a deadline nor a failure is noticed.
constexpr int kCallsPerMark = 16;
constexpr size_t kMaxMarks = 4;

} // namespace

GpuEndpoint::GpuEndpoint(int rank, std::unique_ptr<Gpu> gpu, std::unique_ptr<Engine> engine,
                         std::unique_ptr<Endpoint> below, const EndpointOptions &options)
    : rank_(rank), gpu_(std::move(gpu)), engine_(std::move(engine)), below_(std::move(below)),
      control_(below_->host() ? *below_->host() : *below_), options_(options),
      beside_(dynamic_cast<GpuEndpoint *>(below_.get())) {
  if (beside_)
    beside_->beside_ = this;
}

GpuEndpoint::~GpuEndpoint() {
  leave();
  if (beside_)
    beside_->beside_ = nullptr;
  Gpu::Scope scope(*gpu_);
  for (auto &[stream, marks] : marks_)
    for (dl::CudaEvent mark : marks)
      gpu_->put(mark);
  transfers_.clear();
  groups_.clear();
}

Result<Group *> GpuEndpoint::group(std::vector<int> ranks) {
  Result<std::unique_ptr<Communicator>> control = control_.communicator(ranks);
  if (!control)
    return control.status();
  std::unique_ptr<Group> &group = groups_[ranks];
  if (!group) {
    int position = (*control)->position();
    group = std::make_unique<Group>(std::move(ranks), position);
    group->control = control.take();
    group->lane = engine_->makeLane(*gpu_, group->ranks, position);
  }
  return group.get();
}

Result<std::unique_ptr<Communicator>> GpuEndpoint::communicator(std::vector<int> ranks) {
  Result<Group *> made = group(std::move(ranks));
  if (!made)
    return made.status();
  return std::unique_ptr<Communicator>(new GpuCommunicator(*this, **made));
}

void GpuEndpoint::enter() {
  hasLeft_ = false;
  below_->enter();
}

void GpuEndpoint::leave() {
  Gpu::Scope scope(*gpu_);
  hasLeft_ = true;
  // Comparisons of calls on streams may be in flight; the cause includes their result.
  if (!over_ && !released_.empty())
    if (Status late = waitUntil([&] { return released_.empty(); }, nullptr); !late.ok())
      fail(nullptr, late);
  // Calls on streams may have returned while the GPU waits for a rank that has failed.
  if (Status known = health(); !over_ && !known.ok())
    fail(nullptr, known);
  advanceAll();
  if (!pending_.empty())
    fail(nullptr, {kCollPeer, "rank " + std::to_string(rank_) + " has ended while " +
                                  describe(pending_.front()->call()) + " was in flight"});
  started_.clear();
  released_.clear();
  below_->leave();
}

void GpuEndpoint::abort(const Status &cause) {
  {
    std::lock_guard<std::mutex> lock(causeMutex_);
    if (cause_.ok())
      cause_ = cause;
  }
  engine_->abort(cause);
  below_->abort(cause);
}

Status GpuEndpoint::health() {
  {
    std::lock_guard<std::mutex> lock(causeMutex_);
    if (!cause_.ok())
      return cause_;
  }
  Status known = engine_->health();
  return known.ok() ? below_->health() : known;
}

int GpuEndpoint::gpuOf(const void *data) const {
  dl::CudaPointerInfo info = dl::cudaPointerInfo(gpu_->cuda(), data);
  return info.device || info.managed ? info.ordinal : -1;
}

bool GpuEndpoint::isCapturing(void *stream) const {
  Gpu::Scope scope(*gpu_);
  int state = dl::kCudaNotCapturing;
  return gpu_->cuda().streamIsCapturing(static_cast<dl::CudaStream>(stream), &state) ==
             dl::kCudaSuccess &&
         state != dl::kCudaNotCapturing;
}

//===-- calls -------------------------------------------------------------------===//

// NCCL and the kernels read complete elements: a misaligned address would end all work on the GPU.
Status GpuEndpoint::checkBuffer(const void *data, CollDtype dtype, const char *what) const {
  const auto size = static_cast<uintptr_t>(dtypeSize(dtype));
  if (const uintptr_t over = reinterpret_cast<uintptr_t>(data) % size; over != 0)
    return Status::invalid(std::string("the ") + what + " begins " + std::to_string(over) +
                           " bytes after a multiple of " + std::to_string(size) + ", the size of " +
                           dtypeName(dtype));
  return gpu_->check(data, what);
}

Status GpuEndpoint::check(const Group &group, const Call &call) const {
  if (hasLeft_)
    return Status::invalid("this rank has left the job");
  COLL_RETURN_IF_ERROR(engine_->supports(call));
  if (call.kind == OpKind::Init || call.kind == OpKind::Barrier)
    return {};
  CallExtents extents = extentsOf(call, group.size(), group.position);
  if (extents.src > 0)
    COLL_RETURN_IF_ERROR(checkBuffer(call.src, call.dtype, "source"));
  if (extents.dst > 0)
    COLL_RETURN_IF_ERROR(checkBuffer(call.dst, dstType(call), "destination"));
  return engine_->takes(*group.lane, call);
}

Result<Request *> GpuEndpoint::startChecked(Group &group, const Call &call, bool onCallersStream) {
  Gpu::Scope scope(*gpu_);
  auto made = std::make_unique<GpuRequest>(group, call);
  GpuRequest *request = made.get();
  if (Status checked = check(group, call); !checked.ok())
    return checked.annotate(place(*request));
  request->op.onCallersStream = onCallersStream;
  if (call.stream && !onCallersStream) {
    Result<dl::CudaEvent> after = gpu_->record(static_cast<dl::CudaStream>(call.stream));
    if (!after)
      return after.status().annotate(place(*request));
    request->op.after = *after;
  }
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

Status GpuEndpoint::run(Group &group, const Call &call) {
  Result<Request *> request = startChecked(group, call, call.stream != nullptr);
  return request ? finish(static_cast<GpuRequest *>(*request)) : request.status();
}

Result<Request *> GpuEndpoint::start(Group &group, const Call &call) {
  return startChecked(group, call, /*onCallersStream=*/false);
}

Status GpuEndpoint::wait(Request *request) {
  bool known = std::any_of(started_.begin(), started_.end(),
                           [&](const auto &owned) { return owned.get() == request; });
  if (!known)
    return Status::invalid("no such request is in flight");
  return finish(static_cast<GpuRequest *>(request));
}

bool GpuEndpoint::test(Request *request) {
  Gpu::Scope scope(*gpu_);
  auto *own = static_cast<GpuRequest *>(request);
  advanceAll();
  if (Status known = health(); !own->finished && !known.ok())
    fail(nullptr, known);
  return own->finished || mayReturn(*own);
}

// A call on a stream returns when it is on the stream, even if its comparison is not complete.
bool GpuEndpoint::mayReturn(const GpuRequest &request) const {
  return request.finished || (request.call().stream && request.op.stage == LaneOp::Stage::OnStream);
}

Status GpuEndpoint::finish(GpuRequest *request) {
  Gpu::Scope scope(*gpu_);
  Status waited = waitUntil([&] { return mayReturn(*request); }, request);
  if (!waited.ok() && !request->finished)
    fail(request, waited);
  auto it = std::find_if(started_.begin(), started_.end(),
                         [&](const auto &owned) { return owned.get() == request; });
  std::unique_ptr<GpuRequest> owned = std::move(*it);
  started_.erase(it);
  auto *stream = static_cast<dl::CudaStream>(owned->call().stream);
  if (!owned->finished)
    COLL_RETURN_IF_ERROR(release(std::move(owned)));
  else if (!owned->outcome.ok() || !owned->op.onCallersStream)
    return std::move(owned->outcome);
  return bound(stream);
}

Status GpuEndpoint::release(std::unique_ptr<GpuRequest> request) {
  Status ordered;
  if (!request->op.onCallersStream) {
    auto *stream = static_cast<dl::CudaStream>(request->call().stream);
    ordered = gpu_->context()->check(gpu_->cuda().streamWaitEvent(stream, request->op.done, 0),
                                     "cuStreamWaitEvent");
    request->ordered = true;
  }
  released_.push_back(std::move(request));
  sweep();
  if (released_.size() <= kMaxReleased)
    return ordered;
  // Not in released_ any more, so that sweep() does not remove it.
  const std::unique_ptr<GpuRequest> oldest = std::move(released_.front());
  released_.erase(released_.begin());
  Status late = waitUntil([&] { return oldest->finished; }, oldest.get());
  if (!late.ok() && !oldest->finished)
    fail(oldest.get(), late);
  return late.ok() ? ordered : late;
}

// Limits how far the GPU may be behind, in calls.
Status GpuEndpoint::bound(dl::CudaStream stream) {
  int capturing = dl::kCudaNotCapturing;
  if (++unmarked_ < kCallsPerMark || over_ ||
      gpu_->cuda().streamIsCapturing(stream, &capturing) != dl::kCudaSuccess ||
      capturing != dl::kCudaNotCapturing)
    return {};
  unmarked_ = 0;
  Result<dl::CudaEvent> mark = gpu_->record(stream);
  if (!mark)
    return mark.status();
  // Other streams may wait for work that this rank has yet to put on this one.
  std::deque<dl::CudaEvent> &marks = marks_[stream];
  marks.push_back(*mark);
  if (marks.size() <= kMaxMarks)
    return {};
  dl::CudaEvent oldest = marks.front();
  marks.pop_front();
  Status waited = waitFor([&] { return gpu_->reached(oldest); });
  gpu_->put(oldest);
  return waited;
}

// Removes calls that have been compared. A failed comparison has ended the job.
void GpuEndpoint::sweep() {
  released_.erase(std::remove_if(released_.begin(), released_.end(),
                                 [](const auto &request) { return request->finished; }),
                  released_.end());
}

Status GpuEndpoint::prepare(Group &group) {
  Call call;
  call.kind = OpKind::Init;
  return run(group, call);
}

Status GpuEndpoint::meet(Group &group, const Call &call) {
  Gpu::Scope scope(*gpu_);
  Result<Request *> started = group.control->start(call);
  if (!started)
    return started.status();
  Request *under = *started;
  Status waited = waitFor([&]() -> Result<bool> { return heard(under); });
  Status ended = collect(under); // returns at once if the job is over
  return waited.ok() ? ended : waited;
}

Status GpuEndpoint::settle(Group &group) {
  return waitFor([&]() -> Result<bool> {
    COLL_RETURN_IF_ERROR(group.lane->health());
    return group.lane->ready();
  });
}

Status GpuEndpoint::synchronize(void *stream) {
  Gpu::Scope scope(*gpu_);
  Result<dl::CudaEvent> event = gpu_->record(static_cast<dl::CudaStream>(stream));
  if (!event)
    return event.status();
  Status waited = waitFor([&]() -> Result<bool> {
    Result<bool> reached = gpu_->reached(*event);
    if (reached && !*reached)
      return false;
    // In this order: a kernel that fails reports it before it ends.
    return released_.empty() && !isSuspect() ? std::move(reached) : Result<bool>(false);
  });
  gpu_->put(*event);
  return waited;
}

bool GpuEndpoint::isSuspect() const {
  auto isOne = [](const auto &entry) { return entry.second->lane->suspect(); };
  return std::any_of(groups_.begin(), groups_.end(), isOne) ||
         std::any_of(transfers_.begin(), transfers_.end(), isOne);
}

Status GpuEndpoint::waitFor(const std::function<Result<bool>()> &done) {
  Status failure;
  Status waited = waitUntil(
      [&] {
        Result<bool> now = done();
        failure = now.ok() ? Status() : now.status();
        return !now.ok() || *now;
      },
      nullptr);
  if (waited.ok())
    waited = failure;
  if (!waited.ok())
    fail(nullptr, waited);
  return waited;
}

Status GpuEndpoint::waitUntil(const std::function<bool()> &done, const GpuRequest *request) {
  Clock::time_point begin = Clock::now();
  for (int polls = 1;; ++polls) {
    advanceAll();
    sweep();
    if (beside_)
      beside_->advanceBeside(polls % kPollsPerLook == 0);
    // This wait has no request of its own, so it reports the failure of any.
    if (done())
      return over_ && !request ? health() : Status();
    if (polls % kPollsPerLook == 0 || over_) {
      if (Status known = health(); !known.ok()) {
        if (!over_)
          fail(nullptr, known);
        return request ? Status(request->outcome) : known;
      }
      std::string where = request ? place(*request) : "rank " + std::to_string(rank_);
      COLL_RETURN_IF_ERROR(healthOfLanes().annotate(where));
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

Status GpuEndpoint::healthOfLanes() {
  for (auto &[ranks, group] : groups_)
    COLL_RETURN_IF_ERROR(group->lane->health());
  for (auto &[pair, transfer] : transfers_)
    COLL_RETURN_IF_ERROR(transfer->lane->health());
  return {};
}

// Peers wait for calls in flight on that endpoint, too. health() reports a failure.
void GpuEndpoint::advanceBeside(bool looks) {
  Gpu::Scope scope(*gpu_);
  advanceAll();
  sweep();
  if (Status known = looks && !over_ ? healthOfLanes() : Status(); !known.ok())
    fail(nullptr, known.annotate("rank " + std::to_string(rank_)));
}

//===-- beginning ---------------------------------------------------------------===//

Status GpuEndpoint::begin(GpuRequest &request) {
  if (!isTransfer(request.call().kind))
    return beginCollective(request);
  bool self = request.group.rankAt(request.call().peer) == rank_;
  return self ? beginToItself(request) : beginTransfer(request);
}

//===-- going on ----------------------------------------------------------------===//

void GpuEndpoint::advanceAll() {
  for (size_t i = 0; i < pending_.size() && !over_;) {
    GpuRequest *request = pending_[i];
    if (Status moved = advance(*request); !moved.ok()) {
      fail(request, moved);
      return;
    }
    if (i < pending_.size() && pending_[i] == request)
      ++i; // the request is still pending
  }
}

Status GpuEndpoint::advance(GpuRequest &request) {
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

bool GpuEndpoint::isComplete(GpuRequest &request, Status &failure) {
  if (!request.agreed || request.op.stage != LaneOp::Stage::OnStream)
    return false;
  // Init only needs the communicator.
  if (request.call().kind == OpKind::Init && !request.lane->ready())
    return false;
  if (request.call().stream) {
    if (!request.op.onCallersStream && !request.ordered)
      return false;
  } else if (request.op.done) {
    Result<bool> reached = gpu_->reached(request.op.done);
    if (!reached)
      failure = reached.status().annotate(place(request));
    if (!reached || !*reached)
      return false;
  }
  // Last: a kernel that fails reports it before it ends.
  return !request.lane || !request.lane->suspect();
}

Status GpuEndpoint::collect(Request *&request) {
  Request *ended = request;
  request = nullptr;
  return control_.wait(ended);
}

//===-- ending ------------------------------------------------------------------===//

std::string GpuEndpoint::place(const GpuRequest &request) const {
  return describe(request.call()) + " on rank " + std::to_string(rank_) + ", group " +
         describeGroup(request.group.ranks);
}

Status GpuEndpoint::abortedStatus(const GpuRequest &request) {
  std::lock_guard<std::mutex> lock(causeMutex_);
  return {kCollAborted, place(request) + ": given up because of a failure: " + cause_.toString()};
}

Status GpuEndpoint::timeoutStatus(const GpuRequest *request) const {
  std::string within =
      ": no completion within " + std::to_string(options_.timeoutUs / 1000) + " ms";
  if (!request)
    return {kCollTimeout, "rank " + std::to_string(rank_) + within};
  const Group &group = request->group;
  std::string text = place(*request) + within;
  if (request->compared)
    return {kCollTimeout, text + " on the GPU, though all members have made the call"};
  if (request->agreed)
    return {kCollTimeout, text +
                              " on the GPU; whether all members have made the call is not known, "
                              "because it is like an earlier call and was not compared"};
  const char *separator = "; waiting for ";
  for (int i = 0; i < group.size(); ++i)
    if (isTransfer(request->call().kind) ? i == request->call().peer : i != group.position) {
      text += separator + ("rank " + std::to_string(group.rankAt(i)));
      separator = " or ";
    }
  return {kCollTimeout, text};
}

void GpuEndpoint::end(GpuRequest &request, Status outcome) {
  // Only a request that is ended early has these. The waits then return at once, and release the
  // buffers.
  for (Request **left : {&request.told, &request.heard})
    if (*left)
      (void)collect(*left);
  if (request.lane)
    request.lane->forget(&request.op);
  for (dl::CudaEvent *event : {&request.op.after, &request.op.done})
    gpu_->put(std::exchange(*event, nullptr));
  request.outcome = std::move(outcome);
  request.finished = true;
  pending_.erase(std::remove(pending_.begin(), pending_.end(), &request), pending_.end());
}

void GpuEndpoint::fail(GpuRequest *request, const Status &failure) {
  abort(failure);
  over_ = true;
  // Before any request releases its buffers.
  for (auto &[ranks, group] : groups_)
    group->lane->kill();
  for (auto &[pair, transfer] : transfers_)
    transfer->lane->kill();
  gpu_->drain(gpu_->stream());
  if (request && !request->finished)
    end(*request, failure);
  while (!pending_.empty()) {
    GpuRequest &left = *pending_.back();
    end(left, left.verdict.ok() ? abortedStatus(left) : left.verdict);
  }
  if (beside_ && !beside_->over_)
    beside_->fail(nullptr, failure);
}

} // namespace coll::rt::gpu
