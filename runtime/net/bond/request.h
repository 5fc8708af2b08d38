// request.h - an operation under way on a bond.

#ifndef COLL_RUNTIME_NET_BOND_REQUEST_H
#define COLL_RUNTIME_NET_BOND_REQUEST_H

#include "runtime/net/bond/frame.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

namespace coll::net::bond {

inline constexpr int kMaxSegments = 16;

// What of a request goes over one link.
struct Part {
  enum class Stage : uint8_t {
    Waiting, // the link has failed: for the peer's word
    Ready,   // to be posted
    Posted,
    Done,
  };
  uint64_t offset = 0, bytes = 0;
  uint8_t rail = 0;
  Stage stage = Stage::Ready;
  bool isLost = false;      // Send: its link has failed, and the peer may ask for it again
  Request *below = nullptr; // while Posted
};

// Everything changes under the connection's lock.
struct BondRequest final : Request {
  enum class Kind : uint8_t { Free, Send, Recv, Write, Read, Flush };
  enum State : uint32_t { Pending, Done, Failed };

  Kind kind = Kind::Free;
  bool isActive = false;   // parts are under way
  bool isAnswered = false; // Send: the receiver has said how it ended
  uint32_t index = 0;      // in its pool
  uint64_t tag = 0;
  uint64_t id = 0;       // of a large message, as its sender counts
  uint64_t total = 0;    // length of the message or transfer
  uint64_t capacity = 0; // of the buffers
  RemoteKey key;         // one-sided
  uint64_t offset = 0;   // one-sided
  int count = 0;
  std::array<Segment, kMaxSegments> segments;
  std::vector<Part> parts;
  Status verdict; // how it will fail, once no part is under way
  std::atomic<uint32_t> state{Pending};
  Status failure; // where Failed; written before `state`

  bool isOneSided() const { return kind == Kind::Write || kind == Kind::Read; }
  bool isInbound() const { return kind == Kind::Recv || kind == Kind::Read; }
  bool hasPart(Part::Stage stage) const {
    return std::any_of(parts.begin(), parts.end(),
                       [stage](const Part &part) { return part.stage == stage; });
  }
  void finish() { state.store(Done, std::memory_order_release); }
  void fail(Status status) {
    failure = std::move(status);
    state.store(Failed, std::memory_order_release);
  }
  Status truncation() const {
    return {kCollMismatch,
            "a message of " + std::to_string(total) + " bytes for a smaller receive"};
  }

  // The buffers' pieces for [from, from + bytes); returns how many.
  int pieces(uint64_t from, uint64_t bytes, Segment *out) const {
    int used = 0;
    for (int i = 0; i < count && bytes > 0; ++i) {
      Segment piece = segments[static_cast<size_t>(i)];
      uint64_t skip = std::min(from, piece.bytes);
      from -= skip;
      piece.bytes = std::min(piece.bytes - skip, bytes);
      if (piece.bytes == 0)
        continue;
      piece.data = static_cast<uint8_t *>(piece.data) + skip;
      bytes -= piece.bytes;
      out[used++] = piece;
    }
    return used;
  }
};

// A message that came before its receive.
struct Unexpected {
  Frame frame;
  std::vector<uint8_t> data; // where it is a small one
};

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_REQUEST_H
