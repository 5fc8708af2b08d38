#include "runtime/exchange/flow/chunk_flow.h"

#include <string>

namespace coll::rt {

using State = ChunkPlace::State;

//===-- a flow ------------------------------------------------------------------===//

Result<bool> ChunkRun::advance() {
  bool isMoving = false;
  // The oldest chunk first: they end in their order.
  for (int64_t chunk = ended_; chunk < flow_.numChunks; ++chunk) {
    if (chunk >= ended_ + static_cast<int64_t>(way_.places.size()))
      break;
    ChunkPlace &place = placeOf(chunk);
    Result<bool> moved = flow_.isSend ? advanceSend(place, chunk) : advanceRecv(place, chunk);
    if (!moved)
      return moved;
    isMoving |= *moved;
  }
  return isMoving;
}

Result<bool> ChunkRun::advanceSend(ChunkPlace &place, int64_t chunk) {
  switch (place.state) {
  case State::Free:
    if (chunk != begun_)
      return false;
    COLL_RETURN_IF_ERROR(move(place, chunk));
    ++begun_;
    place.state = State::Copying;
    return true;
  case State::Copying: {
    // Chunks are sent in their order.
    if (chunk > ended_ && placeOf(chunk - 1).state == State::Copying)
      return false;
    Result<bool> copied = isCopied(place, chunk);
    if (!copied || !*copied)
      return copied;
    const net::Segment segment = segmentOf(place, flow_.bytes(chunk));
    Result<net::Request *> request = way_.connection.isend(&segment, 1, flow_.tag);
    if (!request)
      return request.status();
    place.request = *request;
    if (!place.request)
      return false;
    place.state = State::OnWire;
    if (way_.sent)
      *way_.sent += static_cast<int64_t>(segment.bytes);
    return true;
  }
  case State::OnWire:
    break;
  }
  if (chunk != ended_)
    return false;
  Result<net::Completion> sent = way_.connection.test(place.request);
  if (!sent)
    return sent.status();
  if (!sent->done)
    return false;
  if (flow_.isGone)
    flow_.isGone(chunk);
  place.state = State::Free;
  ++ended_;
  return true;
}

Result<bool> ChunkRun::advanceRecv(ChunkPlace &place, int64_t chunk) {
  const int64_t bytes = flow_.bytes(chunk);
  if (place.state == State::Free) {
    if (chunk != begun_)
      return false;
    const net::Segment segment = segmentOf(place, bytes);
    Result<net::Request *> request = way_.connection.irecv(&segment, 1, flow_.tag);
    if (!request)
      return request.status();
    place.request = *request;
    if (!place.request)
      return false;
    ++begun_;
    place.state = State::OnWire;
    return true;
  }
  if (place.state == State::OnWire) {
    if (chunk > ended_ && placeOf(chunk - 1).state == State::OnWire)
      return false;
    Result<net::Completion> came = way_.connection.test(place.request);
    if (!came)
      return came.status();
    if (!came->done)
      return false;
    if (!flow_.mayBeShorter && came->bytes != static_cast<uint64_t>(bytes))
      return Status(kCollMismatch, "it sends " + std::to_string(came->bytes) + " bytes, expected " +
                                       std::to_string(bytes));
    place.slot.bytes = static_cast<int64_t>(came->bytes);
    COLL_RETURN_IF_ERROR(move(place, chunk));
    place.state = State::Copying;
    return true;
  }
  if (chunk != ended_)
    return false;
  Result<bool> copied = isCopied(place, chunk);
  if (!copied || !*copied)
    return copied;
  place.state = State::Free;
  ++ended_;
  return true;
}

Status ChunkRun::move(const ChunkPlace &place, int64_t chunk) {
  if (flow_.move)
    COLL_RETURN_IF_ERROR(flow_.move(chunk, place.slot));
  if (!flow_.stream)
    return Status::okay();
  return way_.gpu->check(way_.gpu->cuda().eventRecord(place.event, flow_.stream), "cuEventRecord");
}

Result<bool> ChunkRun::isCopied(const ChunkPlace &place, int64_t chunk) const {
  if (flow_.isMoved)
    return flow_.isMoved(chunk);
  if (!flow_.stream)
    return true;
  const dl::CudaResult state = way_.gpu->cuda().eventQuery(place.event);
  if (state == dl::kCudaNotReady)
    return false;
  COLL_RETURN_IF_ERROR(way_.gpu->check(state, "cuEventQuery"));
  return true;
}

//===-- a lane ------------------------------------------------------------------===//

Result<std::unique_ptr<ChunkLane>> ChunkLane::create(std::shared_ptr<dl::GpuContext> gpu,
                                                     net::Transport &transport, int device,
                                                     int slots, int64_t slotBytes) {
  std::unique_ptr<ChunkLane> lane(new ChunkLane(std::move(gpu), transport, slotBytes));
  COLL_RETURN_IF_ERROR(lane->open(device, slots));
  return lane;
}

Status ChunkLane::open(int device, int slots) {
  const int64_t bytes = slots * slotBytes_;
  if (gpu_) {
    Result<dl::GpuMemory> pinned = dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Pinned, bytes);
    if (!pinned)
      return pinned.status();
    pinned_ = pinned.take();
  } else {
    Result<AlignedBuffer> plain = AlignedBuffer::create(bytes);
    if (!plain)
      return plain.status();
    plain_ = plain.take();
  }
  char *host = gpu_ ? pinned_.host() : plain_.data();
  Result<net::Memory *> memory =
      transport_.regMr(device, {host, static_cast<uint64_t>(bytes), net::MemoryKind::Host, -1, 0});
  if (!memory)
    return memory.status();
  registered_ = *memory;
  places_.resize(static_cast<size_t>(slots));
  for (ChunkPlace &place : places_) {
    place.slot.host = host;
    host += slotBytes_;
  }
  if (!gpu_)
    return {};
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  for (size_t i = 0; i < places_.size(); ++i) {
    places_[i].slot.device = pinned_.device() + static_cast<int64_t>(i) * slotBytes_;
    COLL_RETURN_IF_ERROR(
        gpu_->check(cuda.eventCreate(&places_[i].event, dl::kCudaEventNoTiming), "cuEventCreate"));
  }
  return gpu_->check(cuda.streamCreate(&stream_, dl::kCudaStreamNonBlocking), "cuStreamCreate");
}

ChunkLane::~ChunkLane() {
  drain();
  if (registered_)
    transport_.deregMr(registered_);
  if (!gpu_)
    return;
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  for (ChunkPlace &place : places_)
    if (place.event)
      (void)gpu_->cuda().eventDestroy(place.event);
  if (stream_)
    (void)gpu_->cuda().streamDestroy(stream_);
}

ChunkRun ChunkLane::start(ChunkFlow flow, net::Connection &connection) {
  for (ChunkPlace &place : places_)
    place.state = State::Free;
  return ChunkRun(std::move(flow), {connection, places_, registered_, gpu_.get(), nullptr});
}

void ChunkLane::drain() {
  if (!stream_)
    return;
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  (void)gpu_->cuda().streamSynchronize(stream_);
}

} // namespace coll::rt
