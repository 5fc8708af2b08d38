// request.h - an operation under way on a verbs connection.

#ifndef COLL_RUNTIME_NET_VERBS_REQUEST_H
#define COLL_RUNTIME_NET_VERBS_REQUEST_H

#include "runtime/net/verbs/memory.h"
#include "runtime/net/verbs/message.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

namespace coll::net::verbs {

// How a device reaches the buffers of a request, and what keeps that valid.
struct Keys {
  bool made = false;
  std::array<RegistrationCache::Lease, kMaxSegments> leases;
  std::array<uint32_t, kMaxSegments> lkeys = {}, rkeys = {};
};

// Changes under the connection's lock, except `state`.
struct VerbsRequest final : Request {
  enum class Kind : uint8_t { Free, Send, Recv, Write, Read, Flush };
  enum State : uint32_t { Pending, Done, Failed };

  Kind kind = Kind::Free;
  bool open = false;   // waits for the peer: Send for Cts, Recv for data, the others for Grant
  bool onHost = true;  // the processor may touch the buffers
  bool isBusy = false; // the device, here or there, may touch the buffers
  uint32_t index = 0;  // in its pool
  uint32_t generation = 0;
  uint32_t parts = 0;    // pieces of work that the device has not finished
  uint32_t expected = 0; // Recv: bits of the queues whose immediate is to come
  uint64_t tag = 0;
  uint64_t total = 0;    // length of the message or transfer
  uint64_t capacity = 0; // of the buffers
  int count = 0;
  std::array<Segment, kMaxSegments> segments;
  Keys keys;
  std::atomic<uint32_t> state{Pending};
  Status failure; // where Failed; written before `state`

  uint64_t id() const { return uint64_t(generation) << 32 | index; }
  // What the peer sends with the last byte of each part.
  uint32_t immediate() const { return generation << 8 | index; }
  static_assert(kMaxRequests <= 256);

  void finish() {
    isBusy = false;
    state.store(Done, std::memory_order_release);
  }
  void finishPart() {
    if (--parts == 0)
      finish();
  }
  void fail(Status status) {
    isBusy = false;
    failure = std::move(status);
    state.store(Failed, std::memory_order_release);
  }
  void failTruncated() {
    fail({kCollMismatch, "a message of " + std::to_string(total) + " bytes for a smaller receive"});
  }

  // Calls use(segment number, address, bytes) for the pieces of [offset, offset + bytes),
  // at most `max` of them; returns how many bytes they hold.
  template <typename Use>
  uint64_t forEachPiece(uint64_t offset, uint64_t bytes, int max, Use use) const {
    uint64_t done = 0;
    for (int i = 0; i < count && max > 0 && done < bytes; ++i) {
      const Segment &segment = segments[static_cast<size_t>(i)];
      if (offset >= segment.bytes) {
        offset -= segment.bytes;
        continue;
      }
      uint64_t take = std::min(segment.bytes - offset, bytes - done);
      use(static_cast<size_t>(i), static_cast<uint8_t *>(segment.data) + offset, take);
      done += take;
      offset = 0;
      --max;
    }
    return done;
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
