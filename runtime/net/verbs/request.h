// request.h - an operation under way on a verbs connection.

#ifndef COLL_RUNTIME_NET_VERBS_REQUEST_H
#define COLL_RUNTIME_NET_VERBS_REQUEST_H

#include "runtime/net/requests.h"
#include "runtime/net/verbs/memory.h"
#include "runtime/net/verbs/message.h"

#include <array>
#include <utility>
#include <vector>

namespace coll::net::verbs {

// How a device reaches the buffers of a request, and what keeps that valid.
struct Keys {
  bool made = false;
  std::array<RegistrationCache::Lease, kMaxSegments> leases;
  std::array<uint32_t, kMaxSegments> lkeys = {}, rkeys = {};
};

struct VerbsRequest final : BufferRequest {
  bool open = false;     // waits for the peer: Send for Cts, Recv for data, the others for Grant
  bool onHost = true;    // the processor may touch the buffers
  bool isBusy = false;   // the device, here or there, may touch the buffers
  uint32_t parts = 0;    // pieces of work that the device has not finished
  uint32_t expected = 0; // Recv: bits of the queues whose immediate is to come
  RemoteRows rows;       // Read: what of the peer's memory
  Keys keys;

  // What the peer sends with the last byte of each part.
  uint32_t immediate() const { return generation << 8 | index; }
  static_assert(kMaxRequests <= 256 && kMaxSegments <= kMaxRequestSegments);

  void finish() {
    isBusy = false;
    BufferRequest::finish();
  }
  void finishPart() {
    if (--parts == 0)
      finish();
  }
  void fail(Status status) {
    isBusy = false;
    BufferRequest::fail(std::move(status));
  }
};

// A message that came before its receive. Under the connection's lock.
struct Unexpected {
  uint64_t tag = 0;
  uint64_t bytes = 0;
  bool isEager = true;
  uint64_t senderId = 0;     // where not eager
  std::vector<uint8_t> data; // where eager
};

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_REQUEST_H
