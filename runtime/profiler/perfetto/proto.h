// proto.h - the wire format of protocol buffers: appending fields to a buffer, and reading fields
// of untrusted bytes.

#ifndef COLL_RUNTIME_PROFILER_PERFETTO_PROTO_H
#define COLL_RUNTIME_PROFILER_PERFETTO_PROTO_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace coll::profiler::perfetto {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// Appends fields to memory that the caller owns. A field that does not fit is omitted and sets
// overflowed(); earlier bytes are not changed.
class ProtoOut {
public:
  ProtoOut(uint8_t *begin, size_t bytes) : begin_(begin), at_(begin), end_(begin + bytes) {}

  void varint(uint32_t field, uint64_t value) {
    if (!reserve(20))
      return;
    put(field << 3);
    put(value);
  }
  // int32 and int64 fields: a negative value takes ten bytes.
  void integer(uint32_t field, int64_t value) { varint(field, static_cast<uint64_t>(value)); }
  void fixed64(uint32_t field, uint64_t value) {
    if (!reserve(18))
      return;
    put(field << 3 | 1);
    std::memcpy(at_, &value, 8);
    at_ += 8;
  }
  void real(uint32_t field, double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    fixed64(field, bits);
  }
  void bytes(uint32_t field, std::string_view value) {
    if (!reserve(20 + value.size()))
      return;
    put(field << 3 | 2);
    put(value.size());
    std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }
  // Opens a nested message, which contains everything that is appended until close(open(field)).
  // Its length takes three bytes, so it has at most 2 MiB.
  uint8_t *open(uint32_t field) {
    if (!reserve(20))
      return nullptr;
    put(field << 3 | 2);
    at_ += kLengthBytes;
    return at_;
  }
  void close(uint8_t *opened) {
    if (!opened)
      return;
    size_t length = static_cast<size_t>(at_ - opened);
    overflowed_ |= length >= kMostMessageBytes;
    opened[-3] = static_cast<uint8_t>(length | 0x80);
    opened[-2] = static_cast<uint8_t>(length >> 7 | 0x80);
    opened[-1] = static_cast<uint8_t>(length >> 14 & 0x7f);
  }
  // Bytes that are already encoded.
  void raw(std::string_view encoded) {
    if (!reserve(encoded.size()))
      return;
    std::memcpy(at_, encoded.data(), encoded.size());
    at_ += encoded.size();
  }

  bool overflowed() const { return overflowed_; }
  size_t size() const { return static_cast<size_t>(at_ - begin_); }
  std::string_view view() const { return {reinterpret_cast<const char *>(begin_), size()}; }

private:
  static constexpr size_t kLengthBytes = 3, kMostMessageBytes = size_t(1) << 21;
  bool reserve(size_t bytes) {
    overflowed_ |= static_cast<size_t>(end_ - at_) < bytes;
    return !overflowed_;
  }
  void put(uint64_t value) {
    while (value >= 0x80) {
      *at_++ = static_cast<uint8_t>(value | 0x80);
      value >>= 7;
    }
    *at_++ = static_cast<uint8_t>(value);
  }

  uint8_t *begin_, *at_, *end_;
  bool overflowed_ = false;
};

struct ProtoField {
  uint32_t number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0;       // of Varint, Fixed64 and Fixed32
  std::string_view bytes;   // of Bytes
  std::string_view encoded; // the whole field as it is in the message

  int64_t integer() const { return static_cast<int64_t>(value); }
  double real() const {
    double result;
    std::memcpy(&result, &value, 8);
    return result;
  }
};

// Reads the fields of one message. Never reads outside of it, for any bytes.
class ProtoIn {
public:
  explicit ProtoIn(std::string_view message)
      : at_(reinterpret_cast<const uint8_t *>(message.data())), end_(at_ + message.size()) {}

  // False at the end, or if the bytes are not a message: then malformed() is true.
  bool next(ProtoField &field) {
    if (at_ == end_ || malformed_)
      return false;
    const uint8_t *start = at_;
    uint64_t key = 0;
    if (!get(key) || key >> 3 == 0 || key >> 3 > kMostFieldNumber)
      return fail();
    field.number = static_cast<uint32_t>(key >> 3);
    field.type = static_cast<WireType>(key & 7);
    field.value = 0;
    field.bytes = {};
    if (!payload(field))
      return fail();
    field.encoded = {reinterpret_cast<const char *>(start), static_cast<size_t>(at_ - start)};
    return true;
  }
  bool malformed() const { return malformed_; }

private:
  static constexpr uint64_t kMostFieldNumber = (1u << 29) - 1;

  bool payload(ProtoField &field) {
    switch (field.type) {
    case WireType::Varint:
      return get(field.value);
    case WireType::Fixed64:
      return fixed(field.value, 8);
    case WireType::Fixed32:
      return fixed(field.value, 4);
    case WireType::Bytes: {
      uint64_t length = 0;
      if (!get(length) || length > static_cast<size_t>(end_ - at_))
        return false;
      field.bytes = {reinterpret_cast<const char *>(at_), static_cast<size_t>(length)};
      at_ += length;
      return true;
    }
    }
    return false; // groups and invalid wire types
  }
  bool get(uint64_t &value) {
    if (at_ != end_ && *at_ < 0x80) { // most varints have one byte
      value = *at_++;
      return true;
    }
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_)
        return false;
      uint8_t byte = *at_++;
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return true;
    }
    return false;
  }
  bool fixed(uint64_t &value, size_t bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes)
      return false;
    std::memcpy(&value, at_, bytes);
    at_ += bytes;
    return true;
  }
  bool fail() {
    malformed_ = true;
    return false;
  }

  const uint8_t *at_, *end_;
  bool malformed_ = false;
};

} // namespace coll::profiler::perfetto

#endif // COLL_RUNTIME_PROFILER_PERFETTO_PROTO_H
