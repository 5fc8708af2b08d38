#include "tools/coll-trace/chakra.h"

#include <iterator>
#include <optional>

namespace coll::trace::chakra {

using profiler::perfetto::ProtoField;
using profiler::perfetto::ProtoIn;
using profiler::perfetto::ProtoOut;
using profiler::perfetto::WireType;

namespace {

namespace fields {
constexpr uint32_t kId = 1, kName = 2, kType = 3, kControl = 4, kData = 5, kStart = 6,
                   kDuration = 7, kAttribute = 10;
constexpr uint32_t kAttributeName = 1, kInt32 = 7, kInt64 = 9, kUint32 = 11, kUint64 = 13,
                   kBool = 27, kText = 29;
constexpr uint32_t kVersion = 1;
} // namespace fields

// In the order of Chakra's numbers.
constexpr std::string_view kCollectives[] = {
    "AllReduce", "Reduce",        "AllGather",          "Gather", "Scatter", "Broadcast",
    "AlltoAll",  "ReduceScatter", "ReduceScatterBlock", "Barrier"};

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr size_t kOverhead = 64; // more than the heads of the fields that one call appends

// Appends to `text` what `fill` writes, at most `bytes` bytes.
template <typename Fill>
void append(std::string &text, size_t bytes, Fill fill) {
  const size_t before = text.size();
  text.resize(before + bytes);
  ProtoOut out(reinterpret_cast<uint8_t *>(text.data()) + before, bytes);
  fill(out);
  text.resize(before + out.size());
}

template <typename Fill>
void appendAttribute(std::string &rest, std::string_view name, size_t bytes, Fill fill) {
  append(rest, name.size() + bytes + kOverhead, [&](ProtoOut &out) {
    uint8_t *opened = out.open(fields::kAttribute);
    out.bytes(fields::kAttributeName, name);
    fill(out);
    out.close(opened);
  });
}

// Reads repeated numbers, packed or not.
bool readNumbers(const ProtoField &field, std::vector<uint64_t> &numbers) {
  if (field.type == WireType::Varint) {
    numbers.push_back(field.value);
    return true;
  }
  uint64_t value = 0;
  int shift = 0;
  for (char c : field.bytes) {
    if (shift > 63)
      return false;
    value |= uint64_t(static_cast<uint8_t>(c) & 0x7f) << shift;
    shift += 7;
    if (static_cast<uint8_t>(c) < 0x80) {
      numbers.push_back(value);
      value = 0;
      shift = 0;
    }
  }
  return shift == 0 && field.type == WireType::Bytes;
}

void appendNumbers(std::string &text, uint32_t field, const std::vector<uint64_t> &numbers) {
  if (numbers.empty())
    return;
  std::string packed;
  for (uint64_t value : numbers) {
    for (; value >= 0x80; value >>= 7)
      packed += static_cast<char>(value | 0x80);
    packed += static_cast<char>(value);
  }
  append(text, packed.size() + kOverhead, [&](ProtoOut &out) { out.bytes(field, packed); });
}

// The value of the attribute `name`.
std::optional<ProtoField> findAttribute(const std::string &rest, std::string_view name) {
  ProtoIn in(rest);
  for (ProtoField field; in.next(field);) {
    if (field.number != fields::kAttribute)
      continue;
    std::optional<ProtoField> value;
    std::string_view found;
    ProtoIn inner(field.bytes);
    for (ProtoField part; inner.next(part);)
      if (part.number == fields::kAttributeName)
        found = part.bytes;
      else
        value = part;
    if (found == name && value)
      return value;
  }
  return std::nullopt;
}

} // namespace

int64_t collectiveNumber(std::string_view name) {
  for (size_t i = 0; i < std::size(kCollectives); ++i)
    if (kCollectives[i] == name)
      return static_cast<int64_t>(i);
  return -1;
}

std::string_view collectiveName(int64_t number) {
  return number >= 0 && static_cast<size_t>(number) < std::size(kCollectives)
             ? kCollectives[number]
             : std::string_view("Collective");
}

void Node::addBool(std::string_view name, bool value) {
  appendAttribute(rest, name, 0, [&](ProtoOut &out) { out.varint(fields::kBool, value); });
}
void Node::addInt32(std::string_view name, int32_t value) {
  appendAttribute(rest, name, 0, [&](ProtoOut &out) { out.integer(fields::kInt32, value); });
}
void Node::addInt64(std::string_view name, int64_t value) {
  appendAttribute(rest, name, 0, [&](ProtoOut &out) { out.integer(fields::kInt64, value); });
}
void Node::addUint64(std::string_view name, uint64_t value) {
  appendAttribute(rest, name, 0, [&](ProtoOut &out) { out.varint(fields::kUint64, value); });
}
void Node::addText(std::string_view name, std::string_view value) {
  appendAttribute(rest, name, value.size(),
                  [&](ProtoOut &out) { out.bytes(fields::kText, value); });
}

int64_t Node::number(std::string_view name, int64_t otherwise) const {
  std::optional<ProtoField> value = findAttribute(rest, name);
  if (!value || value->type != WireType::Varint)
    return otherwise;
  switch (value->number) {
  case fields::kInt32:
  case fields::kInt64:
  case fields::kUint32:
  case fields::kUint64:
  case fields::kBool:
    return value->integer();
  default:
    return otherwise;
  }
}

std::string Node::text(std::string_view name) const {
  std::optional<ProtoField> value = findAttribute(rest, name);
  return value && value->number == fields::kText ? std::string(value->bytes) : std::string();
}

rt::Result<Node> parseNode(std::string_view bytes) {
  Node node;
  ProtoIn in(bytes);
  bool isGood = true;
  for (ProtoField field; in.next(field);) {
    const bool isNumber = field.type == WireType::Varint;
    if (field.number == fields::kId && isNumber)
      node.id = field.value;
    else if (field.number == fields::kName && field.type == WireType::Bytes)
      node.name = field.bytes;
    else if (field.number == fields::kType && isNumber)
      node.type = static_cast<int32_t>(field.value);
    else if (field.number == fields::kControl)
      isGood &= readNumbers(field, node.controlDependencies);
    else if (field.number == fields::kData)
      isGood &= readNumbers(field, node.dataDependencies);
    else if (field.number == fields::kStart && isNumber)
      node.startMicros = field.value;
    else if (field.number == fields::kDuration && isNumber)
      node.durationMicros = field.value;
    else
      node.rest += field.encoded;
  }
  if (in.malformed() || !isGood)
    return rt::Status::invalid("this is not a node of a Chakra trace");
  return node;
}

std::string encode(const Node &node) {
  std::string text;
  append(text, node.name.size() + 6 * kOverhead, [&](ProtoOut &out) {
    out.varint(fields::kId, node.id);
    out.bytes(fields::kName, node.name);
    out.integer(fields::kType, node.type);
  });
  appendNumbers(text, fields::kControl, node.controlDependencies);
  appendNumbers(text, fields::kData, node.dataDependencies);
  append(text, 2 * kOverhead, [&](ProtoOut &out) {
    out.varint(fields::kStart, node.startMicros);
    out.varint(fields::kDuration, node.durationMicros);
  });
  return text + node.rest;
}

std::string encodeMetadata() {
  std::string text;
  append(text, kOverhead, [](ProtoOut &out) { out.bytes(fields::kVersion, "1.0"); });
  return text;
}

rt::Status writeMessage(profiler::perfetto::Sink &sink, std::string_view message) {
  std::string head;
  size_t length = message.size();
  for (; length >= 0x80; length >>= 7)
    head += static_cast<char>(length | 0x80);
  head += static_cast<char>(length);
  return sink.write(head + std::string(message));
}

std::string toBase64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : kBase64[group >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string fromBase64(std::string_view text) {
  std::string bytes;
  uint32_t group = 0;
  int bits = 0;
  while (!text.empty() && text.back() == '=')
    text.remove_suffix(1);
  for (char c : text) {
    const size_t place = std::string_view(kBase64).find(c);
    if (place == std::string_view::npos)
      return {};
    group = group << 6 | static_cast<uint32_t>(place);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(group >> bits & 0xff);
    }
  }
  return bytes;
}

} // namespace coll::trace::chakra
