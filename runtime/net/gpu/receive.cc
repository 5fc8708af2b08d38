#include "runtime/net/gpu/connection.h"

#include "runtime/base/log.h"
#include "runtime/net/gpu/fragments.h"

#include <algorithm>

namespace coll::net {

Result<Request *> GpuConnection::irecv(const Segment *segments, int count, uint64_t tag) {
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(progress());
  COLL_RETURN_IF_ERROR(check(segments, count));
  if (!anyCuda(segments, count))
    return receiveHost(segments, count, tag);
  COLL_RETURN_IF_ERROR(checkDevice(segments, count));
  return receiveDevice(*segments, tag);
}

Result<Request *> GpuConnection::receiveHost(const Segment *segments, int count, uint64_t tag) {
  if (!shared_.options.scatter) {
    GpuRequest &request = newRequest(GpuRequest::Kind::Pass);
    translate(segments, count, request.segments);
    return posted(request, inner_->irecv(request.segments.data(), count, tag));
  }
  GpuRequest &request = newRequest(GpuRequest::Kind::Receive);
  request.segments.assign(segments, segments + count);
  request.bytes = *totalBytes(segments, count, properties_);
  request.stream.resize(request.bytes + kMaxTrailerBytes);
  Segment whole{request.stream.data(), request.stream.size(), nullptr};
  return posted(request, inner_->irecv(&whole, 1, tagBelow(tag)));
}

Result<Request *> GpuConnection::receiveDevice(const Segment &segment, uint64_t tag) {
  const DeviceOptions &options = shared_.options;
  const DeviceMemory &memory = *deviceMemory(segment);
  if (unpack_ && !slotsByLanding()) {
    auto lag = static_cast<uint64_t>(options.implicitConsume);
    if (lag > 0 && unpack_->posted() >= lag)
      unpack_->consumeBefore(unpack_->posted() - lag + 1);
    if (unpack_->full())
      return refuse();
  }
  GpuRequest &request = newRequest(GpuRequest::Kind::Receive);
  request.bytes = segment.bytes;
  request.address = reinterpret_cast<uint64_t>(segment.data);
  request.gpu = memory.gpu;
  if (memory.inner && !options.scatter) {
    request.path = GpuRequest::Path::Direct;
    translate(&segment, 1, request.segments);
  } else {
    request.path = unpack_ && segment.bytes >= options.unpackThreshold ? GpuRequest::Path::Kernel
                                                                       : GpuRequest::Path::Staged;
    uint64_t room = segment.bytes + (options.scatter ? kMaxTrailerBytes : 0);
    Result<bool> taken = takeBlocks(request, room);
    if (!taken.ok() || !*taken)
      return posted(request, taken.ok() ? Result<Request *>(nullptr) : taken.status());
    listBlocks(request.gpu->bounce(), request.blocks, room, request.segments);
  }
  Result<Request *> result =
      posted(request, inner_->irecv(request.segments.data(),
                                    static_cast<int>(request.segments.size()), tagBelow(tag)));
  if (unpack_ && !slotsByLanding() && result.ok() && *result)
    request.slot = static_cast<int64_t>(unpack_->post());
  return result;
}

Result<Completion> GpuConnection::testReceive(GpuRequest &request) {
  if (request.copying) {
    Result<bool> copied = request.copy.done();
    if (!copied.ok())
      return endReceive(request, copied.status());
    return *copied ? endReceive(request, Completion{true, request.landedBytes}) : Completion();
  }
  if (!ended_.ok())
    return endReceive(request, ended_);
  if (request.needsSlot)
    return handOver(request);
  Result<Completion> completion = testBelow(request);
  if (!completion.ok())
    return endReceive(request, completion);
  return completion->done ? landed(request, completion->bytes) : Completion();
}

Result<Completion> GpuConnection::landed(GpuRequest &request, uint64_t streamBytes) {
  DeviceCounters &counters = shared_.counters;
  Status placed = layOut(request, streamBytes);
  if (placed.code() == kCollPeer)
    end(placed);
  if (!placed.ok())
    return endReceive(request, placed);
  Completion completion{true, request.landedBytes};
  switch (request.path) {
  case GpuRequest::Path::Host:
    break;
  case GpuRequest::Path::Direct:
    counters.directReceives.add(1);
    break;
  case GpuRequest::Path::Kernel:
    if (slotsByLanding() && completion.bytes == 0)
      break;
    return handOver(request);
  case GpuRequest::Path::Staged:
    counters.stagedReceives.add(1);
    counters.stagedBytes.add(completion.bytes);
    if (completion.bytes == 0)
      break;
    if (Status begun = request.copy.toGpu(request.gpu, request.runs, request.address); !begun.ok())
      return endReceive(request, begun);
    request.copying = true;
    return Completion();
  }
  return endReceive(request, completion);
}

Result<Completion> GpuConnection::handOver(GpuRequest &request) {
  Completion completion{true, request.landedBytes};
  if (slotsByLanding())
    completion.slot = unpack_->freeSlot();
  request.needsSlot = slotsByLanding() && completion.slot < 0;
  if (request.needsSlot)
    return Completion();
  const auto number = static_cast<uint64_t>(slotsByLanding() ? completion.slot : request.slot);
  DeviceCounters &counters = shared_.counters;
  counters.unpackedPages.add(
      unpack_->publish(number, request.runs, shared_.options.pages, request.blocks));
  counters.unpackedMessages.add(1);
  counters.unpackedBytes.add(completion.bytes);
  request.blocks.count = 0; // the slot owns the blocks now, until the message is consumed
  release(request);
  return completion;
}

Status GpuConnection::layOut(GpuRequest &request, uint64_t streamBytes) {
  if (shared_.options.scatter)
    return layOutFragments(request, streamBytes);
  request.landedBytes = streamBytes;
  if (request.path != GpuRequest::Path::Direct)
    addRuns(request.runs, request.blocks.numbers.data(), 0, streamBytes, 0);
  return {};
}

Status GpuConnection::layOutFragments(GpuRequest &request, uint64_t streamBytes) {
  bool host = request.path == GpuRequest::Path::Host;
  uint64_t tailBytes = std::min(streamBytes, kMaxTrailerBytes), begin = streamBytes - tailBytes;
  const uint8_t *tail = request.stream.data() + (host ? begin : 0);
  if (!host) {
    Runs runs;
    addRuns(runs, request.blocks.numbers.data(), begin, tailBytes, 0);
    tail_.resize(tailBytes);
    for (const rt::PageDescriptor &run : runs)
      std::copy_n(request.gpu->bounce().host() + run.bounceOff, run.len,
                  tail_.data() + run.bufferOff);
    tail = tail_.data();
  }
  Result<std::vector<Fragment>> fragments =
      parseTrailer(tail, tailBytes, streamBytes, request.bytes);
  if (!fragments.ok())
    return fragments.status();
  for (const Fragment &fragment : *fragments) {
    uint64_t at = request.landedBytes;
    if (host)
      place(request.segments, fragment.offset, request.stream.data() + at, fragment.bytes);
    else
      addRuns(request.runs, request.blocks.numbers.data(), at, fragment.bytes, fragment.offset);
    request.landedBytes += fragment.bytes;
  }
  return {};
}

// Ends every receive except those that a kernel unpacks.
Result<Completion> GpuConnection::endReceive(GpuRequest &request,
                                             const Result<Completion> &outcome) {
  request.copy.wait(); // if this copy failed to begin, an earlier one may still run
  if (request.slot >= 0)
    unpack_->publish(static_cast<uint64_t>(request.slot), {}, shared_.options.pages, {});
  release(request);
  return outcome;
}

void GpuConnection::consumed() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (unpack_ && shared_.options.implicitConsume == 0 && !unpack_->consume())
    rt::log(rt::LogLevel::Warn, "consumed() without a message that could have been consumed");
}

void GpuConnection::consumed(int32_t slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!unpack_ || !slotsByLanding() || !unpack_->consume(slot))
    rt::log(rt::LogLevel::Warn, "consumed(slot) of a slot that holds no message");
}

Status GpuConnection::republish(int32_t slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || !unpack_ || !unpack_->publishAgain(slot))
    return Status::invalid("slot " + std::to_string(slot) + " holds no message");
  shared_.counters.republished.add(1);
  return {};
}

const DeviceHandle *GpuConnection::deviceHandle() const {
  return unpack_ ? unpack_->handle() : nullptr;
}
const DeviceHandle *GpuConnection::packHandle() const { return pack_ ? pack_->handle() : nullptr; }
KernelView GpuConnection::unpackView() const { return unpack_ ? unpack_->view() : KernelView(); }
KernelView GpuConnection::packView() const { return pack_ ? pack_->view() : KernelView(); }

} // namespace coll::net
