// request.h - a request in flight on a tcp connection.

#ifndef COLL_RUNTIME_NET_TCP_REQUEST_H
#define COLL_RUNTIME_NET_TCP_REQUEST_H

#include "runtime/net/requests.h"
#include "runtime/net/socket.h"
#include "runtime/net/wire.h"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <sys/uio.h>

namespace coll::net::tcp {

inline constexpr int kMaxSegments = kMaxRequestSegments;
inline constexpr uint32_t kMaxRequests = 256; // in each direction
inline constexpr uint32_t kMaxParts = 16; // parts of a message that are remembered for profilers

// Fields change under the connection's lock, except the atomics. The buffers may be
// used by streams, unlocked, while parts are outstanding.
struct TcpRequest final : BufferRequest {
  bool open = false;      // Send: waits for Cts. Recv, Read: takes Data
  bool told = false;      // Recv: announced to the peer, which may send Data without asking
  bool announced = false; // Recv, told: the Rts frame of its message has arrived
  bool large = false;     // Send: in parts
  uint32_t stripes = 0;   // Write: parts that the peer acknowledges
  uint32_t acks = 0;
  uint64_t number = 0;                // Recv: its number among those with its tag; 0: not counted
  uint64_t promised = 0;              // bytes that headers have announced
  std::atomic<uint64_t> remaining{0}; // in parts: bytes that are missing, or pieces to send
  std::atomic<uint32_t> badPart{0};   // a FrameCode

  // One in this many tests reads stream 0, depending on what the request waits for; 0: each test
  // does. Only used if one thread tests many connections.
  static constexpr uint32_t kToldPatience = 4, kDataPatience = 16;
  std::atomic<uint32_t> patience{0}, tests{0};
  bool wantsLook() {
    uint32_t most = patience.load(std::memory_order_relaxed);
    return most == 0 || tests.fetch_add(1, std::memory_order_relaxed) % most == most - 1;
  }

  // Bytes that one stream moves. A part is written before numParts includes it.
  struct Part {
    uint32_t stream = 0;
    uint64_t bytes = 0;
    int64_t startNs = 0;
    std::atomic<int64_t> endNs{0};
  };
  std::array<Part, kMaxParts> parts;
  std::atomic<uint32_t> numParts{0};

  // The caller holds the connection's lock. Returns the part's number; kMaxParts if there is no
  // room.
  uint32_t addPart(uint32_t stream, uint64_t bytes) {
    uint32_t number = numParts.load(std::memory_order_relaxed);
    if (number == kMaxParts)
      return number;
    Part &part = parts[number];
    part.stream = stream;
    part.bytes = bytes;
    part.startNs = nowNs();
    part.endNs.store(0, std::memory_order_relaxed);
    numParts.store(number + 1, std::memory_order_release);
    return number;
  }
  void endPart(uint32_t number) {
    if (number < kMaxParts)
      parts[number].endNs.store(nowNs(), std::memory_order_relaxed);
  }

  void finishPart(uint64_t amount) {
    if (remaining.fetch_sub(amount, std::memory_order_acq_rel) == amount)
      finish();
  }
  void finish() {
    auto bad = static_cast<wire::FrameCode>(badPart.load(std::memory_order_relaxed));
    if (bad == wire::FrameCode::Ok)
      return BufferRequest::finish();
    fail(bad == wire::FrameCode::Truncated ? truncation() : noSuchRange());
  }

  // The buffers' pieces for [offset, offset + bytes), at most `max` of them; returns how
  // many, and in `bytes` how much they hold.
  int pieces(uint64_t offset, uint64_t &bytes, iovec *out, int max) const {
    int used = 0;
    bytes = forEachPiece(offset, bytes, max,
                         [&](size_t, uint8_t *at, uint64_t count) { out[used++] = {at, count}; });
    return used;
  }
};

// A message that arrived before its receive, or in parts without a request for them. Protected by
// the connection's lock; the streams write `data` until `complete`.
struct Unexpected {
  uint64_t tag = 0;
  uint64_t number = 0; // 0: not counted
  uint64_t bytes = 0;
  bool eager = true;
  uint64_t senderId = 0;           // if not eager
  std::unique_ptr<uint8_t[]> data; // once its payload begins
  uint64_t arrived = 0;            // bytes in `data`
  bool complete = false;
  // Push: bytes that headers have announced, and how many of those have a destination.
  bool pushed = false, refused = false; // refused: too long for its receive
  uint64_t promised = 0, placed = 0;
  uint32_t waiting = 0;          // streams whose payload has no destination yet, one bit each
  TcpRequest *claimed = nullptr; // the receive that it was matched with
};

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_REQUEST_H
