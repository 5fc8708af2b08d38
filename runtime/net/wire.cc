#include "runtime/net/wire.h"

#include "runtime/base/codes.h"

namespace coll::net::wire {

namespace {

constexpr uint32_t kHelloMagic = 0x484c4f43;     // "COLH"
constexpr uint32_t kChallengeMagic = 0x434c4f43; // "COLC"
constexpr uint32_t kVerdictMagic = 0x564c4f43;   // "COLV"
constexpr uint32_t kBootMagic = 0x424c4f43;      // "COLB"
constexpr uint16_t kFrameMagic = 0xc011;

bool isRefusal(uint8_t value) { return value <= static_cast<uint8_t>(Refusal::Busy); }

} // namespace

const char *refusalText(Refusal refusal) {
  switch (refusal) {
  case Refusal::None:
    return "accepted";
  case Refusal::WrongVersion:
    return "the protocol versions differ";
  case Refusal::WrongSecret:
    return "the job secrets (COLL_SECRET) differ";
  case Refusal::WrongWorldSize:
    return "the numbers of processes differ";
  case Refusal::BadRank:
    return "there is no such rank";
  case Refusal::DuplicateRank:
    return "another process has this rank";
  case Refusal::UnknownListener:
    return "no such listener, or not such a connection";
  case Refusal::Busy:
    return "too many connections are being set up";
  }
  return "refused";
}

//===-- handshake ---------------------------------------------------------------===//

void encode(const Hello &hello, uint8_t *out) {
  Encoder(out)
      .put(kHelloMagic)
      .put(hello.version)
      .put(static_cast<uint8_t>(hello.purpose))
      .put(uint8_t(0))
      .put(hello.nonce.data(), hello.nonce.size())
      .put(hello.context.data(), hello.context.size());
}

std::optional<Hello> decodeHello(const uint8_t *in) {
  Decoder decoder(in);
  Hello hello;
  if (decoder.get<uint32_t>() != kHelloMagic)
    return std::nullopt;
  hello.version = decoder.get<uint16_t>();
  uint8_t purpose = decoder.get<uint8_t>(), zero = decoder.get<uint8_t>();
  hello.purpose = static_cast<Purpose>(purpose);
  decoder.get(hello.nonce.data(), hello.nonce.size());
  decoder.get(hello.context.data(), hello.context.size());
  // Another version may use the rest differently; it is refused by its version.
  if (hello.version == kVersion && (purpose < 1 || purpose > 4 || zero != 0))
    return std::nullopt;
  return hello;
}

void encode(const Challenge &challenge, uint8_t *out) {
  Encoder(out)
      .put(kChallengeMagic)
      .put(challenge.version)
      .put(static_cast<uint8_t>(challenge.refusal))
      .put(uint8_t(0))
      .put(challenge.nonce.data(), challenge.nonce.size());
}

std::optional<Challenge> decodeChallenge(const uint8_t *in) {
  Decoder decoder(in);
  Challenge challenge;
  if (decoder.get<uint32_t>() != kChallengeMagic)
    return std::nullopt;
  challenge.version = decoder.get<uint16_t>();
  uint8_t refusal = decoder.get<uint8_t>();
  if (!isRefusal(refusal) || decoder.get<uint8_t>() != 0)
    return std::nullopt;
  challenge.refusal = static_cast<Refusal>(refusal);
  decoder.get(challenge.nonce.data(), challenge.nonce.size());
  return challenge;
}

void encode(const Verdict &verdict, uint8_t *out) {
  Encoder(out)
      .put(kVerdictMagic)
      .put(static_cast<uint8_t>(verdict.refusal))
      .put(uint8_t(0))
      .put(uint16_t(0))
      .put(verdict.mac.data(), verdict.mac.size());
}

std::optional<Verdict> decodeVerdict(const uint8_t *in) {
  Decoder decoder(in);
  Verdict verdict;
  if (decoder.get<uint32_t>() != kVerdictMagic)
    return std::nullopt;
  uint8_t refusal = decoder.get<uint8_t>();
  if (!isRefusal(refusal) || decoder.get<uint8_t>() != 0 || decoder.get<uint16_t>() != 0)
    return std::nullopt;
  verdict.refusal = static_cast<Refusal>(refusal);
  decoder.get(verdict.mac.data(), verdict.mac.size());
  return verdict;
}

Context encode(const RankContext &context) {
  Context out = {};
  Encoder(out.data()).put(context.rank).put(context.worldSize);
  return out;
}

RankContext decodeRank(const Context &context) {
  Decoder decoder(context.data());
  RankContext out;
  out.rank = decoder.get<uint32_t>();
  out.worldSize = decoder.get<uint32_t>();
  return out;
}

Context encode(const StreamContext &context) {
  Context out = {};
  Encoder(out.data())
      .put(context.listener)
      .put(context.connection[0])
      .put(context.connection[1])
      .put(context.index)
      .put(context.count);
  return out;
}

StreamContext decodeStream(const Context &context) {
  Decoder decoder(context.data());
  StreamContext out;
  out.listener = decoder.get<uint64_t>();
  out.connection[0] = decoder.get<uint64_t>();
  out.connection[1] = decoder.get<uint64_t>();
  out.index = decoder.get<uint32_t>();
  out.count = decoder.get<uint32_t>();
  return out;
}

//===-- bootstrap ---------------------------------------------------------------===//

void encode(const BootHeader &header, uint8_t *out) {
  Encoder(out)
      .put(kBootMagic)
      .put(static_cast<uint8_t>(header.op))
      .put(header.code)
      .put(header.keyBytes)
      .put(header.valueBytes)
      .put(header.timeoutMs)
      .put(header.sequence);
}

std::optional<BootHeader> decodeBoot(const uint8_t *in, bool isReply) {
  Decoder decoder(in);
  BootHeader header;
  if (decoder.get<uint32_t>() != kBootMagic)
    return std::nullopt;
  uint8_t op = decoder.get<uint8_t>();
  header.op = static_cast<BootOp>(op);
  header.code = decoder.get<uint8_t>();
  header.keyBytes = decoder.get<uint16_t>();
  header.valueBytes = decoder.get<uint32_t>();
  header.timeoutMs = decoder.get<uint32_t>();
  header.sequence = decoder.get<uint64_t>();
  if (op < 1 || op > static_cast<uint8_t>(BootOp::Leave) || header.code > kCollInternal ||
      header.keyBytes > kMaxKeyBytes ||
      header.valueBytes > (isReply ? kMaxReplyBytes : kMaxValueBytes))
    return std::nullopt;
  return header;
}

//===-- tcp streams -------------------------------------------------------------===//

void encode(const Frame &frame, uint8_t *out) {
  Encoder(out)
      .put(kFrameMagic)
      .put(static_cast<uint8_t>(frame.type))
      .put(static_cast<uint8_t>(frame.code))
      .put(frame.row)
      .put(frame.id)
      .put(frame.tag)
      .put(frame.offset)
      .put(frame.bytes)
      .put(frame.key);
}

std::optional<Frame> decodeFrame(const uint8_t *in) {
  Decoder decoder(in);
  Frame frame;
  if (decoder.get<uint16_t>() != kFrameMagic)
    return std::nullopt;
  uint8_t type = decoder.get<uint8_t>(), code = decoder.get<uint8_t>();
  if (type < 1 || type > static_cast<uint8_t>(FrameType::Push) ||
      code > static_cast<uint8_t>(FrameCode::BadKey))
    return std::nullopt;
  frame.row = decoder.get<uint32_t>();
  frame.type = static_cast<FrameType>(type);
  frame.code = static_cast<FrameCode>(code);
  frame.id = decoder.get<uint64_t>();
  frame.tag = decoder.get<uint64_t>();
  frame.offset = decoder.get<uint64_t>();
  frame.bytes = decoder.get<uint64_t>();
  frame.key = decoder.get<uint64_t>();
  if (frame.bytes > kMaxMessageBytes || (frame.type != FrameType::Read && frame.row != 0) ||
      (frame.type == FrameType::Eager && frame.bytes > kEagerBytes) ||
      (frame.type == FrameType::Push && frame.id > kEagerWindowBytes))
    return std::nullopt;
  return frame;
}

} // namespace coll::net::wire
