// frame.h - the messages between two ends of a bond: fixed layouts, little-endian, checked when
// decoded.

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
// Frames are sent as small messages of the links, so they must be small for every transport.
inline constexpr uint64_t kFrameBytes = 8 << 10;
inline constexpr uint64_t kFrameTag = 0;
// The most bytes of small messages that a sender has in flight without a matching receive.
inline constexpr uint64_t kWindowBytes = 1 << 20;
inline constexpr uint64_t kWindowMessages = 1024;
// How far numbers may be ahead of the last acknowledged one: the receiver stores frames that arrive
// early.
inline constexpr uint64_t kWindowFrames = 1024;

enum class FrameType : uint8_t {
  Eager = 1, // a whole message: tag, bytes; the payload follows
  Large,     // a message in parts: id (sender's), tag, bytes; count and rails of the parts
  Fin,       // a large message was received, or refused: id, code
  Resend,    // a part did not arrive: id, part; rails[0] is the link that it should use now
  Down,      // the link rails[0] is closed at this end
  Invite,    // the accepting end expects a new link rails[0], attempt id; a Handle follows
  Decline,   // …and the connecting end could not connect it
  Joined,    // …and the accepting end has accepted it: both may use it
  Bye,       // the connection is closed at this end: the last frame
  Ack,       // carries only the fields of every frame; not numbered
};

enum class FrameCode : uint8_t { Ok = 0, Truncated, Refused };

struct Frame {
  static constexpr size_t kBytes = 88;
  FrameType type = FrameType::Ack;
  FrameCode code = FrameCode::Ok;
  uint8_t part = 0;
  uint8_t count = 0;
  uint64_t sequence = 0; // from 1; 0: not numbered
  // Acknowledgement: the numbered frames up to `ack` were received, and so many small messages
  // found a receive.
  uint64_t ack = 0, takenMessages = 0, takenBytes = 0;
  uint64_t tag = 0, id = 0, bytes = 0;
  std::array<uint8_t, BondOptions::kMaxRails> rails = {};
  // The numbered frames that this end has received over each link since it was connected, modulo
  // 2^16.
  std::array<uint16_t, BondOptions::kMaxRails> came = {};
};
inline constexpr uint64_t kEagerBytes = kFrameBytes - Frame::kBytes;
// The rail of a part whose link has failed.
inline constexpr uint8_t kNoRail = 0xff;

void encode(const Frame &frame, uint8_t *out);
// Nullopt unless exactly `bytes` bytes make a frame of this layout.
std::optional<Frame> decodeFrame(const uint8_t *in, size_t bytes);

// The messages that combine links into a connection, sent over the links themselves.
//
//   connecting side, first link: LinkHello, id 0     ->
//                                                <-  Offer: id, the other listeners
//   every other link:            LinkHello, id, rail ->
//   first link:                  Start: the links that are connected ->
//
// Over a link that is connected again: LinkHello, id, rail; everything else is sent over the other
// links.
struct LinkHello {
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
  uint8_t rails = 0; // one bit each; only with the first link
  uint8_t count = 0; // the number of possible rails
};
std::vector<uint8_t> encode(const LinkHello &hello);
std::vector<uint8_t> encode(const Offer &offer);
std::vector<uint8_t> encode(const Start &start);
std::optional<LinkHello> decodeLinkHello(const uint8_t *in, size_t bytes);
std::optional<Offer> decodeOffer(const uint8_t *in, size_t bytes);
std::optional<Start> decodeStart(const uint8_t *in, size_t bytes);

// Marks the handle of the first listener, so that a bond's handle and a plain one cannot be
// confused.
Handle mark(const Handle &inner);
std::optional<Handle> unmark(const Handle &handle);

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_FRAME_H
