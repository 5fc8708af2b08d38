// GPU memory that the processor must not access: the device itself copies into it, over a queue
// pair that is connected to itself.

#include "runtime/net/verbs/endpoint.h"

#include <cerrno>
#include <cstring>

namespace coll::net::verbs {

namespace {

constexpr size_t kScratchBytes = 64;

} // namespace

Status Endpoint::createMirror() {
  if (mirror_.pair)
    return {};
  // An earlier attempt may have failed after this point.
  if (!mirrorMr_) {
    mirrorBuffers_.resize(kMaxRequests * kEagerBytes + kScratchBytes);
    errno = 0;
    mirrorMr_ = api_.regMr(device_.pd(), mirrorBuffers_.data(), mirrorBuffers_.size(),
                           IBV_ACCESS_LOCAL_WRITE);
    if (!mirrorMr_)
      return rt::dl::ibverbsError("registering buffers on " + device_.name(),
                                  errno ? errno : ENOMEM);
  }
  Result<std::unique_ptr<QueuePair>> pair =
      QueuePair::create(device_, portNumber_, cq_, number_, {kDataSends, 1, 1, 0});
  if (!pair.ok())
    return pair.status();
  SetupInfo self = setupInfo();
  self.queue[0] = {(*pair)->number(), (*pair)->firstPacket()};
  COLL_RETURN_IF_ERROR((*pair)->connect(port_, portNumber_, self, 0, shared_.options, 1, 1));
  mirror_.pair = pair.take();
  return {};
}

// Copies a small message into a receive's buffers.
Status Endpoint::mirrorInto(VerbsRequest &request, const uint8_t *data) {
  COLL_RETURN_IF_ERROR(createMirror());
  uint8_t *staged = mirrorBuffers_.data() + request.index * kEagerBytes;
  std::memcpy(staged, data, request.total);
  request.forEachPiece(0, request.total, kMaxSegments,
                       [&](size_t segment, uint8_t *to, uint64_t count) {
                         Work work;
                         work.request = &request;
                         work.bytes = count;
                         work.address = reinterpret_cast<uintptr_t>(to);
                         work.rkey = request.keys.rkeys[segment];
                         work.staged = staged;
                         mirror_.waiting.push_back(work);
                         staged += count;
                         ++request.parts;
                       });
  request.isBusy = true;
  return {};
}

// A read cannot overtake earlier writes, so they are visible after it.
Status Endpoint::mirrorFlush(VerbsRequest &request) {
  COLL_RETURN_IF_ERROR(createMirror());
  request.forEachPiece(0, request.total, kMaxSegments, [&](size_t segment, uint8_t *at, uint64_t) {
    Work work;
    work.request = &request;
    work.opcode = IBV_WR_RDMA_READ;
    work.bytes = 1;
    work.address = reinterpret_cast<uintptr_t>(at);
    work.rkey = request.keys.rkeys[segment];
    work.staged = mirrorBuffers_.data() + kMaxRequests * kEagerBytes;
    mirror_.waiting.push_back(work);
    ++request.parts;
  });
  if (request.parts == 0)
    request.finish();
  request.isBusy = request.parts > 0;
  return {};
}

} // namespace coll::net::verbs
