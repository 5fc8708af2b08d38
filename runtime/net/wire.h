// wire.h - messages on the network: fixed layouts, little-endian, checked when decoded.
//
// A decoder receives bytes from an untrusted peer. It rejects bytes that do not fit the layout and
// its limits, and never reads or promises more than it was given.

#ifndef COLL_RUNTIME_NET_WIRE_H
#define COLL_RUNTIME_NET_WIRE_H

#include "runtime/net/auth.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace coll::net::wire {

inline constexpr uint16_t kVersion = 4;

// Writes integers in order into a buffer of the layout's size.
class Encoder {
public:
  explicit Encoder(uint8_t *at) : at_(at) {}
  template <typename T>
  Encoder &put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i)
      *at_++ = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i));
    return *this;
  }
  Encoder &put(const void *bytes, size_t count) {
    std::memcpy(at_, bytes, count);
    at_ += count;
    return *this;
  }

private:
  uint8_t *at_;
};

class Decoder {
public:
  explicit Decoder(const uint8_t *at) : at_(at) {}
  template <typename T>
  T get() {
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value |= static_cast<uint64_t>(*at_++) << (8 * i);
    return static_cast<T>(value);
  }
  void get(void *bytes, size_t count) {
    std::memcpy(bytes, at_, count);
    at_ += count;
  }

private:
  const uint8_t *at_;
};

//===-- handshake: Hello -> Challenge -> Proof -> Verdict ------------------------===//

// The purpose of a connection. A proof for one purpose is not valid for another.
enum class Purpose : uint8_t { Bootstrap = 1, Stream = 2, Verbs = 3, Node = 4 };

// Why a server ends a handshake.
enum class Refusal : uint8_t {
  None = 0,
  WrongVersion,
  WrongSecret,
  WrongWorldSize,
  BadRank,
  DuplicateRank,
  UnknownListener,
  Busy,
};
const char *refusalText(Refusal refusal);

// The client's description of itself; the proof covers it.
inline constexpr size_t kContextBytes = 64;
using Context = std::array<uint8_t, kContextBytes>;

struct Hello {
  static constexpr size_t kBytes = 104;
  uint16_t version = kVersion;
  Purpose purpose = Purpose::Bootstrap;
  Nonce nonce = {};
  Context context = {};
};

struct Challenge {
  static constexpr size_t kBytes = 40;
  uint16_t version = kVersion;
  Refusal refusal = Refusal::None; // WrongVersion: `version` is the server's
  Nonce nonce = {};
};

struct Verdict {
  static constexpr size_t kBytes = 40;
  static constexpr size_t kSignedBytes = 8; // bytes that the server's proof covers
  Refusal refusal = Refusal::None;
  Mac mac = {}; // zero if the client proved nothing
};

void encode(const Hello &hello, uint8_t *out);
void encode(const Challenge &challenge, uint8_t *out);
void encode(const Verdict &verdict, uint8_t *out);
std::optional<Hello> decodeHello(const uint8_t *in);
std::optional<Challenge> decodeChallenge(const uint8_t *in);
std::optional<Verdict> decodeVerdict(const uint8_t *in);

// The context of a bootstrap connection, and of one stream of a tcp connection.
struct RankContext {
  uint32_t rank = 0, worldSize = 0;
};
struct StreamContext {
  uint64_t listener = 0; // the listener's number, from its handle
  uint64_t connection[2] = {};
  uint32_t index = 0, count = 0; // this stream, and the number of streams
};
Context encode(const RankContext &context);
Context encode(const StreamContext &context);
RankContext decodeRank(const Context &context);
StreamContext decodeStream(const Context &context);

//===-- bootstrap: one request at a time, one reply each --------------------------===//

enum class BootOp : uint8_t { Put = 1, Get = 2, Gather = 3, Leave = 4 };

inline constexpr uint32_t kMaxKeyBytes = 256;
inline constexpr uint32_t kMaxValueBytes = 64 << 10;
inline constexpr uint32_t kMaxReplyBytes = 64 << 20;

// Followed by the key and the value. In a reply `code` is a CollCode; if it is not kCollOk the
// value is the message.
struct BootHeader {
  static constexpr size_t kBytes = 24;
  BootOp op = BootOp::Put;
  uint8_t code = 0;
  uint16_t keyBytes = 0;
  uint32_t valueBytes = 0;
  uint32_t timeoutMs = 0;
  uint64_t sequence = 0;
};
void encode(const BootHeader &header, uint8_t *out);
// `isReply` says which limit the value has.
std::optional<BootHeader> decodeBoot(const uint8_t *in, bool isReply);

//===-- tcp streams ---------------------------------------------------------------===//

// Stream 0 carries the frames that are not marked "payload on any stream", in order. `bytes` bytes
// of payload follow if the table says so. A number counts messages and receives of one tag from 1:
// the nth message belongs to the nth receive; 0 means not counted.
enum class FrameType : uint8_t {
  Eager = 1, // a complete message: tag, key (number), bytes; payload on stream 0
  Rts,       // a message waits: id (sender's), tag, key (number), bytes
  Cts,       // send it: id (sender's), key (receiver's id). Not after Ready for a receive with room
  Data,      // a part: id (receiver's), offset, bytes; payload on any stream
             // Without Cts (after Ready): tag is the message's length, and key is its number if
             // an Rts was sent all the same, which may come before or after this
  Credit,    // credit for received eager messages: id (messages), bytes
  Write,     // id (writer's), key, offset, bytes; payload on streams 1…
  Read,      // id (reader's), key, offset, bytes; rows of `row` bytes, `tag` bytes apart, or one
             // piece (0); answered by Data or a bad Ack
  Ack,       // id; code
  Ready,     // a receive was posted: id (receiver's), tag, key (number), bytes (its room)
  // a part of a message sent without asking: tag, key (number), id (the message's length), offset,
  // bytes; payload on streams 1…. Only after a Ready with that tag
  Push,
};

// Outcome of one part, as reported by the peer.
enum class FrameCode : uint8_t { Ok = 0, Truncated, BadKey };

struct Frame {
  static constexpr size_t kBytes = 48;
  FrameType type = FrameType::Ack;
  FrameCode code = FrameCode::Ok;
  uint32_t row = 0;
  uint64_t id = 0, tag = 0, offset = 0, bytes = 0, key = 0;
};

// A message of at most this size is sent without asking, and larger ones in parts (Push). A sender
// may have at most this much in flight that the peer has not matched with a receive.
inline constexpr uint64_t kEagerBytes = 256 << 10;
// A larger message is sent without asking only if nothing else is in flight, because it would make
// others, and the posting thread, wait. For messages up to this size it is not worth waking another
// thread.
inline constexpr uint64_t kSmallBytes = 16 << 10;
inline constexpr uint64_t kEagerWindowBytes = 1 << 20;
inline constexpr uint64_t kEagerWindowMessages = 1024;
inline constexpr uint64_t kMaxMessageBytes = uint64_t(1) << 40;

void encode(const Frame &frame, uint8_t *out);
std::optional<Frame> decodeFrame(const uint8_t *in);

} // namespace coll::net::wire

#endif // COLL_RUNTIME_NET_WIRE_H
