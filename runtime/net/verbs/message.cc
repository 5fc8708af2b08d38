#include "runtime/net/verbs/message.h"

#include "runtime/net/wire.h"

namespace coll::net::verbs {

using wire::Decoder;
using wire::Encoder;

namespace {

constexpr uint16_t kMessageMagic = 0xc0b1;
constexpr uint32_t kSetupMagic = 0x53564c43;  // "CLVS"
constexpr uint32_t kHandleMagic = 0x48564c43; // "CLVH"
// The version of the layouts in this file.
constexpr uint16_t kVersion = 1;

} // namespace

void encode(const Message &message, uint8_t *out) {
  Encoder(out)
      .put(kMessageMagic)
      .put(static_cast<uint8_t>(message.type))
      .put(static_cast<uint8_t>(message.code))
      .put(message.credits)
      .put(message.count)
      .put(message.id)
      .put(message.tag)
      .put(message.bytes)
      .put(message.key)
      .put(message.offset);
}

void encode(const RemoteSegment &segment, uint8_t *out) {
  Encoder(out).put(segment.address).put(segment.bytes).put(segment.rkey);
}

RemoteSegment decodeSegment(const uint8_t *in) {
  Decoder decoder(in);
  RemoteSegment segment;
  segment.address = decoder.get<uint64_t>();
  segment.bytes = decoder.get<uint64_t>();
  segment.rkey = decoder.get<uint32_t>();
  return segment;
}

std::optional<Message> decodeMessage(const uint8_t *in, size_t bytes) {
  if (bytes < Message::kBytes)
    return std::nullopt;
  Decoder decoder(in);
  Message message;
  if (decoder.get<uint16_t>() != kMessageMagic)
    return std::nullopt;
  uint8_t type = decoder.get<uint8_t>(), code = decoder.get<uint8_t>();
  message.type = static_cast<MessageType>(type);
  message.code = static_cast<MessageCode>(code);
  message.credits = decoder.get<uint16_t>();
  message.count = decoder.get<uint16_t>();
  message.id = decoder.get<uint64_t>();
  message.tag = decoder.get<uint64_t>();
  message.bytes = decoder.get<uint64_t>();
  message.key = decoder.get<uint64_t>();
  message.offset = decoder.get<uint64_t>();
  size_t payload = bytes - Message::kBytes, wanted = 0;
  if (message.type == MessageType::Eager)
    wanted = message.bytes;
  else if (message.type == MessageType::Cts)
    wanted = message.count * RemoteSegment::kBytes;
  if (type < 1 || type > static_cast<uint8_t>(MessageType::Grant) ||
      code > static_cast<uint8_t>(MessageCode::BadKey) || message.bytes > kMaxMessageBytes ||
      message.count > kMaxSegments || payload != wanted)
    return std::nullopt;
  return message;
}

//===-- setting up --------------------------------------------------------------===//

void encode(const SetupInfo &info, uint8_t *out) {
  Encoder encoder(out);
  encoder.put(kSetupMagic)
      .put(kVersion)
      .put(info.lid)
      .put(info.linkLayer)
      .put(info.mtu)
      .put(info.maxReads)
      .put(info.queues)
      .put(info.slots)
      .put(uint16_t(0))
      .put(info.gid.data(), info.gid.size());
  for (const SetupInfo::Queue &queue : info.queue)
    encoder.put(queue.number).put(queue.firstPacket);
  static_assert(16 + 16 + (kMaxDataQueues + 1) * 8 + 8 == SetupInfo::kBytes);
  encoder.put(uint64_t(0));
}

std::optional<SetupInfo> decodeSetup(const uint8_t *in) {
  Decoder decoder(in);
  SetupInfo info;
  if (decoder.get<uint32_t>() != kSetupMagic || decoder.get<uint16_t>() != kVersion)
    return std::nullopt;
  info.lid = decoder.get<uint16_t>();
  info.linkLayer = decoder.get<uint8_t>();
  info.mtu = decoder.get<uint8_t>();
  info.maxReads = decoder.get<uint8_t>();
  info.queues = decoder.get<uint8_t>();
  info.slots = decoder.get<uint16_t>();
  decoder.get<uint16_t>();
  decoder.get(info.gid.data(), info.gid.size());
  for (SetupInfo::Queue &queue : info.queue) {
    queue.number = decoder.get<uint32_t>();
    queue.firstPacket = decoder.get<uint32_t>();
    if (queue.number > 0xffffff || queue.firstPacket > 0xffffff)
      return std::nullopt;
  }
  // Five sizes of packets, from 256 to 4096 bytes.
  if (info.mtu < 1 || info.mtu > 5 || info.queues < 1 || info.queues > kMaxDataQueues ||
      info.slots < 4 || info.slots > 4096)
    return std::nullopt;
  return info;
}

//===-- handles -----------------------------------------------------------------===//

Handle encodeHandle(const HandleContent &content) {
  Handle handle;
  Encoder encoder(handle.bytes.data());
  encoder.put(kHandleMagic).put(kVersion);
  encode(content, encoder);
  return handle;
}

std::optional<HandleContent> decodeHandle(const Handle &handle) {
  Decoder decoder(handle.bytes.data());
  if (decoder.get<uint32_t>() != kHandleMagic || decoder.get<uint16_t>() != kVersion)
    return std::nullopt;
  return decodeListener(decoder);
}

} // namespace coll::net::verbs
