// request.h - a request in flight on a bond.

#ifndef COLL_RUNTIME_NET_BOND_REQUEST_H
#define COLL_RUNTIME_NET_BOND_REQUEST_H

#include "runtime/net/bond/frame.h"
#include "runtime/net/requests.h"

#include <algorithm>
#include <vector>

namespace coll::net::bond {

// The part of a request that uses one link.
struct Part {
  enum class Stage : uint8_t {
    Waiting, // the link has failed: waits for the peer's frame
    Ready,   // to be posted
    Posted,
    Done,
  };
  uint64_t offset = 0, bytes = 0;
  uint8_t rail = 0;
  Stage stage = Stage::Ready;
  bool isLost = false;      // Send: its link has failed, and the peer may request it again
  Request *below = nullptr; // while Posted
};

struct BondRequest final : BufferRequest {
  bool isActive = false;   // parts are in flight
  bool isAnswered = false; // Send: the receiver has reported how it ended
  uint64_t number = 0;     // of a large message, counted by its sender
  RemoteKey key;           // one-sided
  RemoteRows rows;         // one-sided
  std::vector<Part> parts;
  Status verdict; // how it will fail, once no part is in flight

  bool isOneSided() const { return kind == Kind::Write || kind == Kind::Read; }
  bool hasPart(Part::Stage stage) const {
    return std::any_of(parts.begin(), parts.end(),
                       [stage](const Part &part) { return part.stage == stage; });
  }
};

// A frame that arrived early: a message before its receive, or a frame before an earlier one.
struct Early {
  Frame frame;
  std::vector<uint8_t> data; // its payload
};

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_REQUEST_H
