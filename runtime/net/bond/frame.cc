#include "runtime/net/bond/frame.h"

#include "runtime/net/wire.h"

#include <algorithm>

namespace coll::net::bond {

using wire::Decoder;
using wire::Encoder;

namespace {

constexpr uint16_t kFrameMagic = 0xc0bd;
constexpr uint32_t kSetupMagic = 0x44424c43; // "CLBD"
constexpr uint32_t kMarkMagic = 0x4d424c43;  // "CLBM"
// The version of the layouts in this file.
constexpr uint16_t kVersion = 3;
constexpr size_t kSetupBytes = 24, kMarkBytes = 8;
constexpr uint8_t kMarkBit = 0x80;

enum class SetupType : uint8_t { LinkHello = 1, Offer, Start };

std::vector<uint8_t> encodeSetup(SetupType type, uint8_t value, uint64_t id, size_t extra = 0) {
  std::vector<uint8_t> out(kSetupBytes + extra);
  Encoder(out.data())
      .put(kSetupMagic)
      .put(kVersion)
      .put(static_cast<uint8_t>(type))
      .put(value)
      .put(id);
  return out;
}

bool decodeSetup(const uint8_t *in, size_t bytes, SetupType type, uint8_t &value, uint64_t &id) {
  if (bytes < kSetupBytes)
    return false;
  Decoder decoder(in);
  bool isOurs = decoder.get<uint32_t>() == kSetupMagic;
  isOurs = decoder.get<uint16_t>() == kVersion && isOurs;
  isOurs = decoder.get<uint8_t>() == static_cast<uint8_t>(type) && isOurs;
  value = decoder.get<uint8_t>();
  id = decoder.get<uint64_t>();
  return isOurs;
}

} // namespace

void encode(const Frame &frame, uint8_t *out) {
  Encoder encoder(out);
  encoder.put(kFrameMagic)
      .put(static_cast<uint8_t>(frame.type))
      .put(static_cast<uint8_t>(frame.code))
      .put(frame.part)
      .put(frame.count)
      .put(uint16_t(0))
      .put(frame.sequence)
      .put(frame.ack)
      .put(frame.takenMessages)
      .put(frame.takenBytes)
      .put(frame.tag)
      .put(frame.id)
      .put(frame.bytes)
      .put(frame.rails.data(), frame.rails.size());
  for (uint16_t came : frame.came)
    encoder.put(came);
}

std::optional<Frame> decodeFrame(const uint8_t *in, size_t bytes) {
  if (bytes < Frame::kBytes)
    return std::nullopt;
  Decoder decoder(in);
  Frame frame;
  if (decoder.get<uint16_t>() != kFrameMagic)
    return std::nullopt;
  uint8_t type = decoder.get<uint8_t>(), code = decoder.get<uint8_t>();
  frame.type = static_cast<FrameType>(type);
  frame.code = static_cast<FrameCode>(code);
  frame.part = decoder.get<uint8_t>();
  frame.count = decoder.get<uint8_t>();
  decoder.get<uint16_t>();
  frame.sequence = decoder.get<uint64_t>();
  frame.ack = decoder.get<uint64_t>();
  frame.takenMessages = decoder.get<uint64_t>();
  frame.takenBytes = decoder.get<uint64_t>();
  frame.tag = decoder.get<uint64_t>();
  frame.id = decoder.get<uint64_t>();
  frame.bytes = decoder.get<uint64_t>();
  decoder.get(frame.rails.data(), frame.rails.size());
  for (uint16_t &came : frame.came)
    came = decoder.get<uint16_t>();
  uint64_t payload = frame.type == FrameType::Eager    ? frame.bytes
                     : frame.type == FrameType::Invite ? Handle::kBytes
                                                       : 0;
  bool isNumbered = frame.type != FrameType::Ack;
  if (type < 1 || type > static_cast<uint8_t>(FrameType::Ack) ||
      code > static_cast<uint8_t>(FrameCode::Refused) || frame.bytes > kMaxMessageBytes ||
      frame.part >= BondOptions::kMaxRails || frame.count > BondOptions::kMaxRails ||
      (frame.sequence > 0) != isNumbered || bytes - Frame::kBytes != payload)
    return std::nullopt;
  return frame;
}

//===-- setting up --------------------------------------------------------------===//

std::vector<uint8_t> encode(const LinkHello &hello) {
  return encodeSetup(SetupType::LinkHello, hello.rail, hello.id);
}

std::vector<uint8_t> encode(const Offer &offer) {
  std::vector<uint8_t> out =
      encodeSetup(SetupType::Offer, static_cast<uint8_t>(offer.handles.size()), offer.id,
                  offer.handles.size() * Handle::kBytes);
  for (size_t i = 0; i < offer.handles.size(); ++i)
    std::copy(offer.handles[i].bytes.begin(), offer.handles[i].bytes.end(),
              out.data() + kSetupBytes + i * Handle::kBytes);
  return out;
}

std::vector<uint8_t> encode(const Start &start) {
  return encodeSetup(SetupType::Start, start.rails, start.count);
}

std::optional<LinkHello> decodeLinkHello(const uint8_t *in, size_t bytes) {
  LinkHello hello;
  if (!decodeSetup(in, bytes, SetupType::LinkHello, hello.rail, hello.id) || bytes != kSetupBytes ||
      hello.rail >= BondOptions::kMaxRails)
    return std::nullopt;
  return hello;
}

std::optional<Offer> decodeOffer(const uint8_t *in, size_t bytes) {
  Offer offer;
  uint8_t count = 0;
  if (!decodeSetup(in, bytes, SetupType::Offer, count, offer.id) ||
      count >= BondOptions::kMaxRails || bytes != kSetupBytes + count * Handle::kBytes)
    return std::nullopt;
  offer.handles.resize(count);
  for (size_t i = 0; i < count; ++i)
    std::copy_n(in + kSetupBytes + i * Handle::kBytes, +Handle::kBytes,
                offer.handles[i].bytes.begin());
  return offer;
}

std::optional<Start> decodeStart(const uint8_t *in, size_t bytes) {
  Start start;
  uint64_t count = 0;
  if (!decodeSetup(in, bytes, SetupType::Start, start.rails, count) || bytes != kSetupBytes ||
      !(start.rails & 1) || count > BondOptions::kMaxRails || start.rails >> count != 0)
    return std::nullopt;
  start.count = static_cast<uint8_t>(count);
  return start;
}

// The transports do not use the end of a handle, and begin it with a magic number.
Handle mark(const Handle &inner) {
  Handle handle = inner;
  handle.bytes[0] ^= kMarkBit;
  Encoder(handle.bytes.data() + Handle::kBytes - kMarkBytes)
      .put(kMarkMagic)
      .put(uint32_t(kVersion));
  return handle;
}

std::optional<Handle> unmark(const Handle &handle) {
  Decoder decoder(handle.bytes.data() + Handle::kBytes - kMarkBytes);
  if (decoder.get<uint32_t>() != kMarkMagic || decoder.get<uint32_t>() != kVersion)
    return std::nullopt;
  Handle inner = handle;
  inner.bytes[0] ^= kMarkBit;
  std::fill_n(inner.bytes.end() - kMarkBytes, +kMarkBytes, uint8_t(0));
  return inner;
}

} // namespace coll::net::bond
