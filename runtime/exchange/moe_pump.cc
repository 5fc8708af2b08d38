#include "runtime/exchange/moe_pump.h"

#include "runtime/net/socket.h"

#include <algorithm>
#include <string>
#include <thread>

namespace coll::rt {

namespace {

constexpr int64_t kUnit = 256;
// How long a wait without progress keeps the processor: within a call, and where calls come without
// being announced, one soon after the other.
constexpr int64_t kSpinUs = 200, kEndlessSpinUs = 2000;

} // namespace

// A flow, and how far it is.
struct MoePump::Running {
  MoeFlow flow;
  std::vector<Place> &lane;
  std::vector<Place> own = {};  // where the flow has slots
  int64_t begun = 0, ended = 0; // chunks

  std::vector<Place> &places() { return own.empty() ? lane : own; }
  bool isDone() const { return ended == flow.numChunks; }
  Place &placeOf(int64_t chunk) { return places()[static_cast<size_t>(chunk) % places().size()]; }
};

Result<std::unique_ptr<MoePump>> MoePump::create(std::shared_ptr<dl::GpuContext> gpu,
                                                 net::Transport &transport, MoeLinks &links,
                                                 int rank, int numRanks, const Options &options) {
  std::unique_ptr<MoePump> pump(new MoePump(std::move(gpu), transport, links, options.timeoutUs));
  COLL_RETURN_IF_ERROR(pump->open(rank, numRanks, options));
  return pump;
}

Status MoePump::open(int rank, int numRanks, const Options &options) {
  const auto far = static_cast<int64_t>(options.far.size());
  const int64_t bytes =
      2 * (kFarSlots * far * options.slotBytes + (numRanks - 1 - far) * kNearBytes) + kUnit;
  Result<dl::GpuMemory> pinned = dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Pinned, bytes);
  if (!pinned)
    return pinned.status();
  pinned_ = pinned.take();
  Result<net::Memory *> memory =
      transport_.regMr(0, {pinned_.host(), static_cast<uint64_t>(bytes)});
  if (!memory)
    return memory.status();
  registered_ = *memory;
  int64_t used = 0;
  for (int r = 0; r < numRanks; ++r) {
    lanes_.emplace_back();
    if (r == rank)
      continue;
    const bool isFar = std::count(options.far.begin(), options.far.end(), r) > 0;
    Lane &lane = lanes_.back();
    lane.slotBytes = isFar ? options.slotBytes : kNearBytes;
    for (int i = 0; i < (isFar ? kFarSlots : 1); ++i)
      for (std::vector<Place> *places : {&lane.out, &lane.in})
        COLL_RETURN_IF_ERROR(addPlace(*places, lane.slotBytes, used));
  }
  return Status::okay();
}

Status MoePump::addPlace(std::vector<Place> &places, int64_t slotBytes, int64_t &used) {
  places.emplace_back();
  places.back().slot = {pinned_.host() + used, pinned_.device() + used};
  used += slotBytes;
  return gpu_->check(gpu_->cuda().eventCreate(&places.back().event, dl::kCudaEventNoTiming),
                     "cuEventCreate");
}

MoePump::~MoePump() {
  for (Lane &lane : lanes_)
    for (std::vector<Place> *places : {&lane.out, &lane.in})
      for (Place &place : *places)
        if (place.event)
          (void)gpu_->cuda().eventDestroy(place.event);
  if (registered_)
    transport_.deregMr(registered_);
}

Status MoePump::run(std::vector<MoeFlow> flows, const std::function<Status()> &watch) {
  std::vector<Running> all;
  bool isEndless = false;
  for (MoeFlow &flow : flows) {
    Lane &lane = lanes_[static_cast<size_t>(flow.rank)];
    all.push_back({std::move(flow), flow.isSend ? lane.out : lane.in});
    Running &running = all.back();
    for (const MoeSlot &slot : running.flow.slots) {
      running.own.emplace_back();
      running.own.back().slot = slot;
    }
    isEndless |= running.flow.numChunks == MoeFlow::kEndless;
  }
  const int64_t spinUs = isEndless ? kEndlessSpinUs : kSpinUs;
  int64_t lastUs = net::nowUs();
  bool isResting = false;
  while (true) {
    const Running *waiting = nullptr;
    bool isMoving = false;
    for (Running &running : all) {
      if (running.isDone())
        continue;
      Result<bool> moved = advance(running);
      if (!moved)
        return links_.explain(running.flow.rank, moved.status());
      isMoving |= *moved;
      // Who does not send is more to blame than who does not take.
      if (!running.isDone() && (!waiting || !running.flow.isSend))
        waiting = &running;
    }
    if (!waiting)
      return Status::okay();
    COLL_RETURN_IF_ERROR(watch());
    const int64_t nowUs = net::nowUs();
    if (isMoving) {
      lastUs = nowUs;
      isResting = false;
    } else if (!isEndless && nowUs - lastUs > timeoutUs_)
      return {kCollTimeout, "rank " + std::to_string(waiting->flow.rank) +
                                (waiting->flow.isSend ? " takes nothing" : " sends nothing")};
    if (nowUs - lastUs <= spinUs) {
      std::this_thread::yield();
      continue;
    }
    for (const Running &running : all)
      if (!isResting)
        links_.to(running.flow.rank).rest();
    isResting = true;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Result<bool> MoePump::advance(Running &running) {
  bool isMoving = false;
  // The oldest chunk first: they end in their order.
  for (int64_t chunk = running.ended; chunk < running.flow.numChunks; ++chunk) {
    if (chunk >= running.ended + static_cast<int64_t>(running.places().size()))
      break;
    Place &place = running.placeOf(chunk);
    Result<bool> moved = running.flow.isSend ? advanceSend(running, place, chunk)
                                             : advanceRecv(running, place, chunk);
    if (!moved)
      return moved;
    isMoving |= *moved;
  }
  return isMoving;
}

Result<bool> MoePump::advanceSend(Running &running, Place &place, int64_t chunk) {
  const MoeFlow &flow = running.flow;
  switch (place.state) {
  case State::Free:
    if (chunk != running.begun)
      return false;
    COLL_RETURN_IF_ERROR(move(flow, chunk, place));
    ++running.begun;
    place.state = State::Copying;
    return true;
  case State::Copying: {
    // Chunks are sent in their order.
    if (chunk > running.ended && running.placeOf(chunk - 1).state == State::Copying)
      return false;
    Result<bool> copied = isCopied(flow, chunk, place);
    if (!copied || !*copied)
      return copied;
    const net::Segment segment = segmentOf(flow, place, flow.bytes(chunk));
    Result<net::Request *> request = links_.to(flow.rank).isend(&segment, 1, flow.tag);
    if (!request)
      return request.status();
    place.request = *request;
    if (!place.request)
      return false;
    place.state = State::OnWire;
    bytesSent_ += static_cast<int64_t>(segment.bytes);
    return true;
  }
  case State::OnWire:
    break;
  }
  if (chunk != running.ended)
    return false;
  Result<net::Completion> sent = links_.to(flow.rank).test(place.request);
  if (!sent)
    return sent.status();
  if (!sent->done)
    return false;
  if (flow.isGone)
    flow.isGone(chunk);
  place.state = State::Free;
  ++running.ended;
  return true;
}

Result<bool> MoePump::advanceRecv(Running &running, Place &place, int64_t chunk) {
  const MoeFlow &flow = running.flow;
  const int64_t bytes = flow.bytes(chunk);
  if (place.state == State::Free) {
    if (chunk != running.begun)
      return false;
    const net::Segment segment = segmentOf(flow, place, bytes);
    Result<net::Request *> request = links_.to(flow.rank).irecv(&segment, 1, flow.tag);
    if (!request)
      return request.status();
    place.request = *request;
    if (!place.request)
      return false;
    ++running.begun;
    place.state = State::OnWire;
    return true;
  }
  if (place.state == State::OnWire) {
    if (chunk > running.ended && running.placeOf(chunk - 1).state == State::OnWire)
      return false;
    Result<net::Completion> came = links_.to(flow.rank).test(place.request);
    if (!came)
      return came.status();
    if (!came->done)
      return false;
    if (flow.slots.empty() && came->bytes != static_cast<uint64_t>(bytes))
      return Status(kCollMismatch, "it sends " + std::to_string(came->bytes) + " bytes where " +
                                       std::to_string(bytes) + " are expected");
    place.slot.bytes = static_cast<int64_t>(came->bytes);
    COLL_RETURN_IF_ERROR(move(flow, chunk, place));
    place.state = State::Copying;
    return true;
  }
  if (chunk != running.ended)
    return false;
  Result<bool> copied = isCopied(flow, chunk, place);
  if (!copied || !*copied)
    return copied;
  place.state = State::Free;
  ++running.ended;
  return true;
}

Status MoePump::move(const MoeFlow &flow, int64_t chunk, Place &place) {
  if (flow.move)
    COLL_RETURN_IF_ERROR(flow.move(chunk, place.slot));
  if (!flow.stream)
    return Status::okay();
  return gpu_->check(gpu_->cuda().eventRecord(place.event, flow.stream), "cuEventRecord");
}

Result<bool> MoePump::isCopied(const MoeFlow &flow, int64_t chunk, const Place &place) const {
  if (flow.isMoved)
    return flow.isMoved(chunk);
  if (!flow.stream)
    return true;
  const dl::CudaResult state = gpu_->cuda().eventQuery(place.event);
  if (state == dl::kCudaNotReady)
    return false;
  COLL_RETURN_IF_ERROR(gpu_->check(state, "cuEventQuery"));
  return true;
}

} // namespace coll::rt
