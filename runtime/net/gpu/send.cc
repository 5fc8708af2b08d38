#include "runtime/net/gpu/connection.h"

#include "runtime/net/gpu/fragments.h"

#include <algorithm>

namespace coll::net {

Result<Request *> GpuConnection::isend(const Segment *segments, int count, uint64_t tag) {
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(progress());
  COLL_RETURN_IF_ERROR(check(segments, count));
  if (anyCuda(segments, count))
    COLL_RETURN_IF_ERROR(checkDevice(segments, count));
  if (outbound_ >= properties_.maxRequests)
    return refuse();
  return anyCuda(segments, count) ? sendDevice(*segments, tag) : sendHost(segments, count, tag);
}

Result<Request *> GpuConnection::sendHost(const Segment *segments, int count, uint64_t tag) {
  GpuRequest &request = newRequest(GpuRequest::Kind::Send);
  request.tag = tagBelow(tag);
  request.bytes = *totalBytes(segments, count, properties_);
  translate(segments, count, request.segments);
  return queued(request);
}

Result<Request *> GpuConnection::sendDevice(const Segment &segment, uint64_t tag) {
  const DeviceOptions &options = shared_.options;
  const DeviceMemory &memory = *deviceMemory(segment);
  bool direct = memory.inner && !options.scatter;
  if (!direct && pack_ && pack_->full())
    return refuse();
  GpuRequest &request = newRequest(GpuRequest::Kind::Send);
  request.tag = tagBelow(tag);
  request.bytes = segment.bytes;
  request.gpu = memory.gpu;
  if (direct) {
    request.path = GpuRequest::Path::Direct;
    translate(&segment, 1, request.segments);
    return queued(request);
  }
  Result<bool> taken = takeBlocks(request, segment.bytes);
  if (!taken.ok() || !*taken)
    return posted(request, taken.ok() ? Result<Request *>(nullptr) : taken.status());
  addRuns(request.runs, request.blocks.numbers.data(), 0, segment.bytes, 0);
  if (pack_) {
    request.path = GpuRequest::Path::Kernel;
    request.slot = static_cast<int64_t>(pack_->publish(request.runs, options.pages));
    return queued(request);
  }
  request.path = GpuRequest::Path::Staged;
  Status begun =
      request.copy.fromGpu(memory.gpu, request.runs, reinterpret_cast<uint64_t>(segment.data));
  if (!begun.ok()) {
    request.copy.wait();
    release(request);
    return begun;
  }
  return queued(request);
}

// If a send cannot start now, and does not wait for its turn or its data, it is undone as if it had
// never been posted.
Result<Request *> GpuConnection::queued(GpuRequest &request) {
  bool first = isNext(waiting_.end(), request.tag);
  waiting_.push_back(&request);
  postSends();
  if (!request.failure.ok()) {
    Status failure = request.failure;
    release(request);
    return failure;
  }
  bool host = request.path == GpuRequest::Path::Host || request.path == GpuRequest::Path::Direct;
  if (first && host && !request.inner) {
    waiting_.pop_back();
    release(request);
    return refuse();
  }
  return static_cast<Request *>(&request);
}

bool GpuConnection::isNext(std::deque<GpuRequest *>::const_iterator before, uint64_t tag) const {
  return std::none_of(waiting_.begin(), before,
                      [tag](const GpuRequest *earlier) { return earlier->tag == tag; });
}

Result<bool> GpuConnection::sourceReady(GpuRequest &request) {
  if (request.path == GpuRequest::Path::Kernel)
    return pack_->packed(static_cast<uint64_t>(request.slot));
  return request.path == GpuRequest::Path::Staged ? request.copy.done() : true;
}

// For a source in host memory, or in memory that the transport below can read.
void GpuConnection::aim(GpuRequest &request) {
  DeviceCounters &counters = shared_.counters;
  request.aimed = true;
  switch (request.path) {
  case GpuRequest::Path::Host:
    break;
  case GpuRequest::Path::Direct:
    counters.directSends.add(1);
    break;
  case GpuRequest::Path::Kernel:
    counters.packedMessages.add(1);
    counters.packedPages.add(pack_->pages(static_cast<uint64_t>(request.slot)));
    counters.packedBytes.add(request.bytes);
    break;
  case GpuRequest::Path::Staged:
    counters.stagedSends.add(1);
    counters.stagedBytes.add(request.bytes);
    break;
  }
  if (request.blocks.count > 0)
    listBlocks(request.gpu->bounce(), request.blocks, request.bytes, request.segments);
  if (!shared_.options.scatter)
    return;
  request.stream =
      shuffle(request.segments.data(), static_cast<int>(request.segments.size()), seed_++);
  request.segments.assign(1, {request.stream.data(), request.stream.size(), nullptr});
}

void GpuConnection::postSends() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    GpuRequest &request = **it;
    Result<bool> ready = isNext(it, request.tag);
    if (*ready && !request.aimed)
      ready = sourceReady(request);
    if (ready.ok() && !*ready) {
      ++it;
      continue;
    }
    if (ready.ok() && !request.aimed)
      aim(request);
    Result<Request *> inner =
        ready.ok() ? inner_->isend(request.segments.data(),
                                   static_cast<int>(request.segments.size()), request.tag)
                   : Result<Request *>(ready.status());
    if (inner.ok() && !*inner)
      return;
    if (inner.ok())
      request.inner = *inner;
    else
      request.failure = inner.status();
    it = waiting_.erase(it);
  }
}

int GpuConnection::packRoom() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return pack_ ? pack_->room() : 0;
}

std::vector<rt::PageDescriptor> GpuConnection::packPages(const Request *request) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto &send = *static_cast<const GpuRequest *>(request);
  return send.path == GpuRequest::Path::Kernel ? send.runs : Runs();
}

void GpuConnection::packed(const Request *request) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto &send = *static_cast<const GpuRequest *>(request);
  if (send.path != GpuRequest::Path::Kernel)
    return;
  pack_->setPacked(static_cast<uint64_t>(send.slot));
  postSends();
}

Result<Completion> GpuConnection::testSend(GpuRequest &request) {
  Result<Completion> outcome = Completion();
  if (!request.failure.ok())
    outcome = request.failure;
  else if (request.inner)
    outcome = testBelow(request);
  else if (!ended_.ok())
    outcome = ended_;
  if (outcome.ok() && !outcome->done)
    return outcome;
  if (outcome.ok())
    outcome->bytes = request.bytes; // without the bytes that scattering adds
  auto it = std::find(waiting_.begin(), waiting_.end(), &request);
  if (it != waiting_.end())
    waiting_.erase(it);
  request.copy.wait();
  // The kernel may still fill the pages, so the connection keeps them until it is closed.
  if (request.path == GpuRequest::Path::Kernel &&
      !pack_->packed(static_cast<uint64_t>(request.slot)))
    --outbound_;
  else
    release(request);
  return outcome;
}

} // namespace coll::net
