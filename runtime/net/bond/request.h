// request.h - an operation under way on a bond.

#ifndef COLL_RUNTIME_NET_BOND_REQUEST_H
#define COLL_RUNTIME_NET_BOND_REQUEST_H

#include "runtime/net/bond/frame.h"
#include "runtime/net/requests.h"

#include <algorithm>
#include <vector>

namespace coll::net::bond {

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

struct BondRequest final : BufferRequest {
  bool isActive = false;   // parts are under way
  bool isAnswered = false; // Send: the receiver has said how it ended
  uint64_t number = 0;     // of a large message, as its sender counts
  RemoteKey key;           // one-sided
  RemoteRows rows;         // one-sided
  std::vector<Part> parts;
  Status verdict; // how it will fail, once no part is under way

  bool isOneSided() const { return kind == Kind::Write || kind == Kind::Read; }
  bool hasPart(Part::Stage stage) const {
    return std::any_of(parts.begin(), parts.end(),
                       [stage](const Part &part) { return part.stage == stage; });
  }
};

// A frame that came before its turn: a message before its receive, or any before one that leaves
// earlier.
struct Early {
  Frame frame;
  std::vector<uint8_t> data; // its payload
};

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_REQUEST_H
