// frame.h - what two ends of a bond tell each other: fixed layouts, little-endian, checked
// when decoded.

#ifndef COLL_RUNTIME_NET_BOND_FRAME_H
#define COLL_RUNTIME_NET_BOND_FRAME_H

#include "runtime/net/bond/bond.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace coll::net::bond {

inline constexpr uint32_t kMaxRequests = 128; // in each direction
inline constexpr uint64_t kMaxMessageBytes = uint64_t(1) << 40;
// Frames travel as small messages of the links, and so have to be small for all of them.
inline constexpr uint64_t kFrameBytes = 8 << 10;
inline constexpr uint64_t kFrameTag = 0;
// What of small messages a sender has on the way that the peer has not matched.
inline constexpr uint64_t kWindowBytes = 1 << 20;
inline constexpr uint64_t kWindowMessages = 1024;
// How far numbers go beyond what the peer has acknowledged: it keeps what comes before its turn.
inline constexpr uint64_t kWindowFrames = 1024;

enum class FrameType : uint8_t {
  Eager = 1, // a whole message: tag, bytes; the payload follows
  Large,     // a message in parts: id (sender's), tag, bytes; count and rails of the parts
  Fin,       // a large message was taken, or refused: id, code
  Resend,    // a part did not arrive: id, part; rails[0] says where it is awaited now
  Down,      // the link rails[0] is closed at this end
  Invite,    // the accepting end awaits the link rails[0] anew, try number id; a Handle follows
  Decline,   // …and the connecting one could not make it
  Joined,    // …and has got it: both may use it
  Bye,       // the connection is closed at this end: the last frame
  Ack,       // nothing but what each frame says; not numbered
};

enum class FrameCode : uint8_t { Ok = 0, Truncated, Refused };

struct Frame {
  static constexpr size_t kBytes = 88;
  FrameType type = FrameType::Ack;
  FrameCode code = FrameCode::Ok;
  uint8_t part = 0;
  uint8_t count = 0;
  uint64_t sequence = 0; // from 1; 0: not numbered
  // All that this end has taken: the numbered frames up to `ack`; of the small messages, those
  // that found a receive.
  uint64_t ack = 0, takenMessages = 0, takenBytes = 0;
  uint64_t tag = 0, id = 0, bytes = 0;
  std::array<uint8_t, BondOptions::kMaxRails> rails = {};
  // Numbered frames that have come to this end over each link since it was made, modulo 2^16.
  std::array<uint16_t, BondOptions::kMaxRails> came = {};
};
inline constexpr uint64_t kEagerBytes = kFrameBytes - Frame::kBytes;
// Of a part that was to go over a link that has failed since.
inline constexpr uint8_t kNoRail = 0xff;

void encode(const Frame &frame, uint8_t *out);
// Nullopt unless exactly `bytes` bytes make a frame of this layout.
std::optional<Frame> decodeFrame(const uint8_t *in, size_t bytes);

// The messages that join links into a connection, over the links themselves.
//
//   connecting side, first link: Knock, id 0     ->
//                                                <-  Offer: id, the other listeners
//   every other link:            Knock, id, rail ->
//   first link:                  Start: the links that are there  ->
//
// Over a link that is made anew: Knock, id, rail; the rest is said over the others.
struct Knock {
  static constexpr size_t kBytes = 24;
  uint64_t id = 0;
  uint8_t rail = 0;
};
struct Offer {
  uint64_t id = 0;
  std::vector<Handle> handles; // of rails 1, 2, …
  static constexpr size_t kMaxBytes = 24 + (BondOptions::kMaxRails - 1) * Handle::kBytes;
};
struct Start {
  static constexpr size_t kBytes = 24;
  uint8_t rails = 0; // bits; always with the first
  uint8_t count = 0; // how many there could be
};
std::vector<uint8_t> encode(const Knock &knock);
std::vector<uint8_t> encode(const Offer &offer);
std::vector<uint8_t> encode(const Start &start);
std::optional<Knock> decodeKnock(const uint8_t *in, size_t bytes);
std::optional<Offer> decodeOffer(const uint8_t *in, size_t bytes);
std::optional<Start> decodeStart(const uint8_t *in, size_t bytes);

// The handle of the first listener, marked: neither kind of handle serves for the other.
Handle mark(const Handle &inner);
std::optional<Handle> unmark(const Handle &handle);

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_FRAME_H
