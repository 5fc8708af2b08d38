// message.h - the messages of verbs endpoints: fixed layouts, little-endian, checked when
// decoded.

#ifndef COLL_RUNTIME_NET_VERBS_MESSAGE_H
#define COLL_RUNTIME_NET_VERBS_MESSAGE_H

#include "runtime/net/listener_handle.h"
#include "runtime/net/transport.h"

#include <array>
#include <cstdint>
#include <optional>

namespace coll::net::verbs {

inline constexpr int kMaxSegments = 16;
inline constexpr uint32_t kMaxRequests = 256; // in each direction
inline constexpr int kMaxDataQueues = 16;
inline constexpr uint64_t kMaxMessageBytes = uint64_t(1) << 40;

// A message of at most this size is sent without asking. A sender may have at most this much in
// flight that the peer has not matched with a receive.
inline constexpr uint64_t kEagerBytes = 8 << 10;
inline constexpr uint64_t kEagerWindowBytes = 1 << 20;
inline constexpr uint64_t kEagerWindowMessages = 1024;

//===-- messages on the control queue pair ----------------------------------------===//

enum class MessageType : uint8_t {
  Eager = 1, // a whole message: tag, bytes; the payload follows
  Rts,       // a message waits: id (sender's), tag, bytes
  Cts,       // write it: id (sender's), key (immediate), offset (first queue), buffers
  Credit,    // small messages were received: id (messages), bytes; both may be 0
  Access,    // asks for access: id (asker's), tag (0 write, 1 read), key, offset, bytes
  Grant,     // answer: id, tag; key (rkey), offset (address), or a bad code
};

enum class MessageCode : uint8_t { Ok = 0, Truncated, BadKey };

struct Message {
  static constexpr size_t kBytes = 48;
  MessageType type = MessageType::Credit;
  MessageCode code = MessageCode::Ok;
  uint16_t credits = 0; // receive buffers that the sender of this message has posted again
  uint16_t count = 0;   // Cts: remote segments that follow
  uint64_t id = 0, tag = 0, bytes = 0, key = 0, offset = 0;
};

// Destination of a peer's message.
struct RemoteSegment {
  static constexpr size_t kBytes = 20;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t rkey = 0;
};

// One buffer of the control queue pair.
inline constexpr size_t kSlotBytes = Message::kBytes + kEagerBytes;
static_assert(kMaxSegments * RemoteSegment::kBytes <= kEagerBytes);

void encode(const Message &message, uint8_t *out);
void encode(const RemoteSegment &segment, uint8_t *out);
// Nullopt unless exactly `bytes` bytes make a message of this layout.
std::optional<Message> decodeMessage(const uint8_t *in, size_t bytes);
RemoteSegment decodeSegment(const uint8_t *in);

//===-- setting up, over TCP ------------------------------------------------------===//

// The data that a peer needs to connect its queue pairs to this end's.
struct SetupInfo {
  static constexpr size_t kBytes = 176;
  struct Queue {
    uint32_t number = 0;
    uint32_t firstPacket = 0;
  };
  std::array<uint8_t, 16> gid = {};
  uint16_t lid = 0;
  uint8_t linkLayer = 0; // IBV_LINK_LAYER_*
  uint8_t mtu = 0;       // enum ibv_mtu
  uint8_t maxReads = 0;  // reads of the peer that may be in flight at once
  uint8_t queues = 0;    // data queue pairs; queue[0] is the control one
  uint16_t slots = 0;    // receive buffers of the control queue pair
  std::array<Queue, kMaxDataQueues + 1> queue = {};
};
void encode(const SetupInfo &info, uint8_t *out);
std::optional<SetupInfo> decodeSetup(const uint8_t *in);

// Single bytes that are sent over TCP afterwards.
inline constexpr uint8_t kReadyByte = 'R';  // from the connecting side: it accepts data
inline constexpr uint8_t kByeByte = 'B';    // closed; the queue pairs are kept for a while
inline constexpr uint8_t kGoneByte = 'G';   // closed, and the queue pairs are destroyed
inline constexpr uint8_t kFailedByte = 'F'; // the connection has failed at this end

//===-- handles -------------------------------------------------------------------===//

using HandleContent = ListenerHandle;
Handle encodeHandle(const HandleContent &content);
// Nullopt if the handle belongs to another transport.
std::optional<HandleContent> decodeHandle(const Handle &handle);

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_MESSAGE_H
