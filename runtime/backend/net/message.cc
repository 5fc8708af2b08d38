#include "runtime/backend/net/message.h"

#include "runtime/net/wire.h"

#include <algorithm>

namespace coll::rt::network {

using net::wire::Decoder;
using net::wire::Encoder;

namespace {

constexpr uint32_t kHelloMagic = 0x48424c43; // "CLBH"
constexpr uint16_t kControlMagic = 0xc0b1;
constexpr uint16_t kCallMagic = 0xc0b2;

// The fixed parts, before the text.
constexpr size_t kControlBytes = 2 + 1 + 1 + 2 + 3 * 8;
constexpr size_t kCallBytes = 2 + 2 + 5 + 4 * 4 + 5 * 8 + 2 * 8;

// At most `max` bytes of it, cut between characters of UTF-8.
std::string cut(const std::string &text, size_t max) {
  if (text.size() <= max)
    return text;
  while (max > 0 && (text[max] & 0xc0) == 0x80)
    --max;
  return text.substr(0, max);
}

} // namespace

std::array<uint8_t, Hello::kBytes> encode(const Hello &hello) {
  std::array<uint8_t, Hello::kBytes> bytes;
  Encoder(bytes.data()).put(kHelloMagic).put(hello.rank);
  return bytes;
}

std::optional<Hello> decodeHello(const uint8_t *data, size_t bytes) {
  if (bytes != Hello::kBytes)
    return std::nullopt;
  Decoder in(data);
  if (in.get<uint32_t>() != kHelloMagic)
    return std::nullopt;
  return Hello{in.get<uint32_t>()};
}

std::vector<uint8_t> encode(const Control &control) {
  std::string text = cut(control.cause.message(), Control::kMaxBytes - kControlBytes);
  std::vector<uint8_t> bytes(kControlBytes + text.size());
  Encoder(bytes.data())
      .put(kControlMagic)
      .put(static_cast<uint8_t>(control.type))
      .put(static_cast<uint8_t>(control.cause.code()))
      .put(static_cast<uint16_t>(text.size()))
      .put(control.epoch)
      .put(control.sent)
      .put(control.key)
      .put(text.data(), text.size());
  return bytes;
}

std::optional<Control> decodeControl(const uint8_t *data, size_t bytes) {
  if (bytes < kControlBytes || bytes > Control::kMaxBytes)
    return std::nullopt;
  Decoder in(data);
  if (in.get<uint16_t>() != kControlMagic)
    return std::nullopt;
  Control control;
  uint8_t type = in.get<uint8_t>(), code = in.get<uint8_t>();
  size_t textBytes = in.get<uint16_t>();
  if (textBytes != bytes - kControlBytes || code > kCollInternal)
    return std::nullopt;
  control.epoch = in.get<uint64_t>();
  control.sent = in.get<uint64_t>();
  control.key = in.get<uint64_t>();
  std::string text(reinterpret_cast<const char *>(data) + kControlBytes, textBytes);
  if (type == static_cast<uint8_t>(Control::Type::Left))
    control.type = Control::Type::Left;
  else if (type == static_cast<uint8_t>(Control::Type::Abort) && code != kCollOk)
    control.type = Control::Type::Abort;
  else
    return std::nullopt;
  if (code != kCollOk)
    control.cause = Status(static_cast<CollCode>(code), std::move(text));
  return control;
}

std::vector<uint8_t> encode(const CallHeader &header) {
  std::string text = cut(header.text, CallHeader::kMaxBytes - kCallBytes);
  std::vector<uint8_t> bytes(kCallBytes + text.size());
  const CallSignature &s = header.signature;
  Encoder(bytes.data())
      .put(kCallMagic)
      .put(static_cast<uint16_t>(text.size()))
      .put(static_cast<uint8_t>(s.kind))
      .put(static_cast<uint8_t>(s.dtype))
      .put(static_cast<uint8_t>(s.reduction))
      .put(static_cast<uint8_t>(s.accumulation))
      .put(static_cast<uint8_t>(s.order))
      .put(s.root)
      .put(s.op)
      .put(s.program)
      .put(s.numPairs)
      .put(s.pairsHash)
      .put(s.outer)
      .put(s.count)
      .put(s.dstOuter)
      .put(s.dstCount)
      .put(header.sequence)
      .put(header.payload)
      .put(text.data(), text.size());
  return bytes;
}

std::optional<CallHeader> decodeCall(const uint8_t *data, size_t bytes, size_t &size) {
  if (bytes < kCallBytes)
    return std::nullopt;
  Decoder in(data);
  if (in.get<uint16_t>() != kCallMagic)
    return std::nullopt;
  size_t textBytes = in.get<uint16_t>();
  size = kCallBytes + textBytes;
  if (size > CallHeader::kMaxBytes || size > bytes)
    return std::nullopt;
  CallHeader header;
  CallSignature &s = header.signature;
  // A number outside of its enumeration equals no call of this rank, so it becomes a mismatch.
  s.kind = static_cast<OpKind>(in.get<uint8_t>());
  s.dtype = static_cast<CollDtype>(in.get<uint8_t>());
  s.reduction = static_cast<CollReduction>(in.get<uint8_t>());
  s.accumulation = static_cast<CollAccumulation>(in.get<uint8_t>());
  s.order = static_cast<CollOrder>(in.get<uint8_t>());
  s.root = in.get<int32_t>();
  s.op = in.get<int32_t>();
  s.program = in.get<int32_t>();
  s.numPairs = in.get<int32_t>();
  s.pairsHash = in.get<uint64_t>();
  s.outer = in.get<int64_t>();
  s.count = in.get<int64_t>();
  s.dstOuter = in.get<int64_t>();
  s.dstCount = in.get<int64_t>();
  header.sequence = in.get<uint64_t>();
  header.payload = in.get<uint64_t>();
  if (header.payload != bytes - size)
    return std::nullopt;
  header.text.assign(reinterpret_cast<const char *>(data) + kCallBytes, textBytes);
  return header;
}

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a + 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t callTag(uint64_t group, uint64_t number) {
  return std::max(mix(group, number), kFirstCallTag);
}

uint64_t groupHash(const std::vector<int> &ranks) {
  uint64_t hash = ranks.size();
  for (int rank : ranks)
    hash = mix(hash, static_cast<uint64_t>(rank));
  return hash;
}

} // namespace coll::rt::network
