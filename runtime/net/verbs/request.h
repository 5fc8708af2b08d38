// request.h - a request in flight on a verbs connection.

#ifndef COLL_RUNTIME_NET_VERBS_REQUEST_H
#define COLL_RUNTIME_NET_VERBS_REQUEST_H

#include "runtime/net/requests.h"
#include "runtime/net/verbs/memory.h"
#include "runtime/net/verbs/message.h"

#include <array>
#include <utility>
#include <vector>

namespace coll::net::verbs {

// The keys by which a device accesses the buffers of a request, and the registrations that keep
// them valid.
struct Keys {
  bool made = false;
  std::array<RegistrationCache::Lease, kMaxSegments> leases;
  std::array<uint32_t, kMaxSegments> lkeys = {}, rkeys = {};
};

struct VerbsRequest final : BufferRequest {
  bool open = false;     // waits for the peer: Send for Cts, Recv for data, the others for Grant
  bool onHost = true;    // the processor may access the buffers
  bool isBusy = false;   // the device, here or at the peer, may access the buffers
  uint32_t parts = 0;    // work requests that the device has not finished
  uint32_t expected = 0; // Recv: bits of the queues whose immediate has not arrived
  RemoteRows rows;       // Read: the rows of the peer's memory
  Keys keys;

  // The peer sends this with the last byte of each part.
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

// A message that arrived before its receive. Protected by the connection's lock.
struct Unexpected {
  uint64_t tag = 0;
  uint64_t bytes = 0;
  bool isEager = true;
  uint64_t senderId = 0;     // if not eager
  std::vector<uint8_t> data; // if eager
};

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_REQUEST_H
