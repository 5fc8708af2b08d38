#include "runtime/exchange/tensor/server.h"

#include "runtime/base/thread.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace coll::rt::exchange {

namespace {

using std::chrono::microseconds;

// The thread first stays awake when idle, then polls often, then seldom.
constexpr int64_t kSpinUs = 200, kRecentUs = 1'000'000;
constexpr microseconds kOften(50), kSeldom(5000);
// A client that neither receives nor sends is dropped after this time.
constexpr int64_t kPatienceUs = 60'000'000;

Status withdrawn() { return {kCollPeer, "the tensor has been withdrawn"}; }

// The box in the tensor's memory; kCollInvalidCall if it is not inside.
Result<StridedBox> boxOf(const BoxQuestion &question, int64_t span) {
  const Status outside = Status::invalid("a part that is not inside the tensor");
  StridedBox box;
  if (question.numLoops < 0 || question.numLoops > kMaxBoxLoops || question.rowBytes < 1 ||
      question.rowBytes > span || question.offset < 0)
    return outside;
  box.srcOffset = question.offset;
  box.rowBytes = question.rowBytes;
  box.numLoops = static_cast<int>(question.numLoops);
  int64_t bytes = box.rowBytes, last = 0;
  for (size_t d = 0; d < static_cast<size_t>(box.numLoops); ++d) {
    const int64_t count = question.count[d], stride = question.stride[d];
    int64_t way = 0;
    // More bytes than the tensor has would mean that elements overlap.
    if (count < 1 || stride < 0 || __builtin_mul_overflow(bytes, count, &bytes) || bytes > span ||
        __builtin_mul_overflow(count - 1, stride, &way) ||
        __builtin_add_overflow(last, way, &last) || last > span)
      return outside;
    box.count[d] = count;
    box.srcStride[d] = stride;
  }
  if (question.offset > span - box.rowBytes - last)
    return outside;
  return box;
}

} // namespace

Result<std::unique_ptr<TensorServer>> TensorServer::create(net::Transport &transport, int device,
                                                           std::shared_ptr<dl::GpuContext> gpu,
                                                           Find find) {
  std::unique_ptr<TensorServer> server(
      new TensorServer(transport, device, std::move(gpu), std::move(find)));
  Result<std::unique_ptr<net::Listener>> listener = transport.listen(device);
  if (!listener)
    return listener.status();
  server->listener_ = listener.take();
  COLL_RETURN_IF_ERROR(startThread(server->thread_, "the readers of remote tensors",
                                   [raw = server.get()] { raw->serve(); }));
  return server;
}

TensorServer::~TensorServer() {
  if (thread_.joinable()) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      leaving_ = true;
    }
    left_.notify_one();
    thread_.join();
  }
  for (const std::unique_ptr<Guest> &guest : guests_)
    release(*guest);
}

Status TensorServer::prepare() {
  std::lock_guard<std::mutex> lock(mutex_);
  return lanes_ == 0 ? addLane() : Status();
}

Status TensorServer::addLane() {
  Result<std::unique_ptr<ChunkLane>> lane =
      ChunkLane::create(gpu_, transport_, device_, BoxQuestion::kSlots, BoxQuestion::kChunkBytes);
  if (!lane)
    return lane.status();
  freeLanes_.push_back(lane.take());
  ++lanes_;
  return {};
}

void TensorServer::end(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const std::unique_ptr<Guest> &guest : guests_) {
    // Copies of a failed transfer may be in flight when it is Ending.
    const bool isOpen = guest->step == Guest::Step::Answering || guest->step == Guest::Step::Moving;
    if ((!isOpen && guest->step != Guest::Step::Ending) || guest->question.id != id)
      continue;
    guest->tensor = {};
    if (guest->lane)
      guest->lane->drain();
    if (isOpen && guest->run)
      say(*guest, withdrawn(), Guest::Step::Ending);
  }
}

// Ends the connection and frees its resources for others.
void TensorServer::release(Guest &guest) {
  guest.connection.reset();
  guest.run.reset();
  if (!guest.lane)
    return;
  guest.lane->drain();
  freeLanes_.push_back(std::move(guest.lane));
}

//===-- the thread --------------------------------------------------------------===//

void TensorServer::serve() {
  std::optional<dl::CudaScope> scope;
  if (gpu_)
    scope.emplace(gpu_->cuda(), gpu_->context());
  int64_t lastUs = 0;
  bool isResting = false;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!leaving_) {
    const bool isJoined = accept(), isMoving = advanceAll() || isJoined;
    const int64_t nowUs = net::nowUs();
    if (isMoving) {
      lastUs = nowUs;
      isResting = false;
    }
    if (nowUs - lastUs <= kSpinUs) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
      continue;
    }
    for (const std::unique_ptr<Guest> &guest : guests_)
      if (!isResting)
        guest->connection->rest();
    isResting = true;
    left_.wait_for(lock, nowUs - lastUs < kRecentUs ? kOften : kSeldom);
  }
}

bool TensorServer::accept() {
  Result<std::unique_ptr<net::Connection>> got = listener_->accept();
  if (!got || !*got)
    return false; // a failure concerns its peer only
  guests_.push_back(std::make_unique<Guest>());
  guests_.back()->connection = got.take();
  return true;
}

bool TensorServer::advanceAll() {
  bool isMoving = false;
  for (size_t i = 0; i < guests_.size();) {
    Guest &guest = *guests_[i];
    Result<bool> moved = advance(guest);
    const int64_t nowUs = net::nowUs();
    if (moved && *moved)
      guest.lastUs = nowUs;
    isMoving |= moved && *moved;
    const bool isLate = guest.step != Guest::Step::Asked && nowUs - guest.lastUs > kPatienceUs;
    if (moved && !isLate) {
      ++i;
      continue;
    }
    release(guest);
    guests_.erase(guests_.begin() + static_cast<ptrdiff_t>(i));
  }
  return isMoving;
}

// An error ends the guest's connection.
Result<bool> TensorServer::advance(Guest &guest) {
  using Step = Guest::Step;
  if (guest.step == Step::Asked)
    return listen(guest);
  if (guest.step == Step::Moving)
    return move(guest);
  Result<bool> said =
      pass(guest, /*isSend=*/true, BoxQuestion::kAnswerTag, &guest.answer, sizeof(guest.answer));
  if (!said || !*said)
    return said;
  const Status status = guest.answer.status();
  if (guest.step == Step::Ending && !status.ok())
    return status;
  guest.step = guest.step == Step::Answering && status.ok() ? Step::Moving : Step::Asked;
  return true;
}

Result<bool> TensorServer::listen(Guest &guest) {
  Result<bool> asked =
      pass(guest, /*isSend=*/false, BoxQuestion::kTag, &guest.question, sizeof(guest.question));
  if (!asked || !*asked)
    return asked;
  if (guest.came != sizeof(guest.question) || guest.question.magic != BoxQuestion::kMagic)
    return Status(kCollMismatch, "the request for a tensor is malformed");
  Result<Tensor> tensor = find_(guest.question);
  Status refused = tensor.status();
  if (refused.ok()) {
    guest.tensor = *tensor;
    refused = boxOf(guest.question, tensor->span).status();
  }
  say(guest, refused, Guest::Step::Answering);
  return true;
}

Result<bool> TensorServer::move(Guest &guest) {
  if (!guest.run) {
    const Status begun = begin(guest);
    if (!begun.ok())
      say(guest, begun, Guest::Step::Ending);
    if (!guest.run)
      return !begun.ok();
  }
  Result<bool> moved = guest.run->advance();
  if (!moved) {
    say(guest, moved.status(), Guest::Step::Ending);
    return true;
  }
  if (!guest.run->isDone())
    return moved;
  guest.run.reset();
  freeLanes_.push_back(std::move(guest.lane));
  say(guest, {}, Guest::Step::Ending);
  return true;
}

// Gives the guest a lane, if there is one.
Status TensorServer::begin(Guest &guest) {
  if (!guest.tensor.memory.data)
    return withdrawn();
  if (freeLanes_.empty() && lanes_ < kMostLanes)
    COLL_RETURN_IF_ERROR(addLane());
  if (freeLanes_.empty()) {
    guest.lastUs = net::nowUs(); // the wait for a lane does not count as silence
    return {};
  }
  guest.lane = std::move(freeLanes_.back());
  freeLanes_.pop_back();
  const StridedBox box = boxOf(guest.question, guest.tensor.span).take();
  guest.run.emplace(guest.lane->start(boxFlow(box, guest.tensor.memory, !guest.question.isWrite,
                                              BoxQuestion::kDataTag, *guest.lane),
                                      *guest.connection));
  return {};
}

void TensorServer::say(Guest &guest, const Status &status, Guest::Step step) {
  guest.answer.set(status);
  guest.step = step;
  guest.lastUs = net::nowUs();
}

// Posts a message, and then tests it. Returns whether it was sent or received.
Result<bool> TensorServer::pass(Guest &guest, bool isSend, uint64_t tag, void *data, size_t bytes) {
  if (!guest.request) {
    const net::Segment segment = {data, bytes, nullptr};
    Result<net::Request *> posted = isSend ? guest.connection->isend(&segment, 1, tag)
                                           : guest.connection->irecv(&segment, 1, tag);
    if (!posted)
      return posted.status();
    guest.request = *posted;
  }
  if (!guest.request)
    return false;
  Result<net::Completion> completion = guest.connection->test(guest.request);
  if (!completion)
    return completion.status();
  if (!completion->done)
    return false;
  guest.request = nullptr;
  guest.came = completion->bytes;
  return true;
}

} // namespace coll::rt::exchange
