#include "runtime/profiler/perfetto/packets.h"

#include "runtime/profiler/perfetto/fields.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

namespace coll::profiler::perfetto {

namespace {

// Bytes that are read at once: few at first, because often only the front of a file is needed.
constexpr size_t kFirstChunkBytes = size_t(64) << 10, kChunkBytes = size_t(256) << 10;
constexpr size_t kMostBytes = size_t(16) << 20;

// The bytes of a varint at the front of `text`, and its value in `value`. 0: it is not complete,
// -1: it is longer than a varint may be.
int varint(std::string_view text, uint64_t &value) {
  value = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 10)
      return -1;
    value |= uint64_t(static_cast<uint8_t>(text[i]) & 0x7f) << (7 * i);
    if (static_cast<uint8_t>(text[i]) < 0x80)
      return static_cast<int>(i) + 1;
  }
  return text.size() >= 10 ? -1 : 0;
}

} // namespace

rt::Result<Packets> Packets::open(const std::string &path, Framing framing) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return rt::Status::invalid("cannot open \"" + path + "\": " + std::strerror(errno));
  return Packets(rt::Fd(fd), path, framing);
}

Packets Packets::of(std::string_view bytes, Framing framing) {
  Packets packets(rt::Fd(), "memory", framing);
  packets.unread_ = bytes;
  packets.atEnd_ = true;
  return packets;
}

rt::Status Packets::malformed(const std::string &what) const {
  return rt::Status::invalid("\"" + path_ + "\" is malformed at byte " +
                             std::to_string(packetOffset_) + ": " + what);
}

// The message at the front of unread_, and how many bytes it takes with its head.
Packets::Found Packets::parse(std::string_view &packet, size_t &bytes) const {
  if (unread_.empty())
    return Found::End;
  uint64_t key = fields::trace::kPacket << 3 | 2, length = 0;
  int keyBytes = framing_ == Framing::Fields ? varint(unread_, key) : 0;
  if (keyBytes < 0 || (framing_ == Framing::Fields && keyBytes > 0 && (key & 7) != 2))
    return Found::Malformed;
  if (framing_ == Framing::Fields && keyBytes == 0)
    return Found::Short;
  int lengthBytes = varint(unread_.substr(static_cast<size_t>(keyBytes)), length);
  if (lengthBytes < 0 || length > kMostBytes)
    return Found::Malformed;
  size_t head = static_cast<size_t>(keyBytes + lengthBytes);
  bytes = head + length;
  if (lengthBytes == 0 || unread_.size() < bytes)
    return Found::Short;
  packet = unread_.substr(head, length);
  return key >> 3 == fields::trace::kPacket ? Found::Packet : Found::Other;
}

rt::Result<bool> Packets::next(std::string_view &packet) {
  for (;;) {
    packetOffset_ = offset_;
    size_t bytes = 0;
    switch (parse(packet, bytes)) {
    case Found::Packet:
      unread_.remove_prefix(bytes);
      offset_ += bytes;
      return true;
    case Found::Other:
      unread_.remove_prefix(bytes);
      offset_ += bytes;
      break;
    case Found::End:
    case Found::Short:
      if (atEnd_) {
        truncated_ = !unread_.empty();
        return false;
      }
      COLL_RETURN_IF_ERROR(fill(std::max(bytes, unread_.size() + 1)));
      break;
    case Found::Malformed:
      return malformed("not a packet of a trace");
    }
  }
}

// Reads until at least `needed` bytes are unread, or the end.
rt::Status Packets::fill(size_t needed) {
  size_t kept = unread_.size();
  const size_t wanted = std::max(needed, capacity_ ? kChunkBytes : kFirstChunkBytes);
  if (capacity_ < wanted) {
    std::unique_ptr<char[]> larger(new char[wanted]); // not set to zero
    if (kept > 0)
      std::memcpy(larger.get(), unread_.data(), kept);
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else if (kept > 0 && unread_.data() != buffer_.get()) {
    std::memmove(buffer_.get(), unread_.data(), kept);
  }
  while (kept < needed && !atEnd_) {
    ssize_t got = ::read(fd_.get(), buffer_.get() + kept, capacity_ - kept);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return rt::Status::invalid("cannot read \"" + path_ + "\": " + std::strerror(errno));
    atEnd_ = got == 0;
    kept += static_cast<size_t>(got);
  }
  unread_ = {buffer_.get(), kept};
  return rt::Status::okay();
}

} // namespace coll::profiler::perfetto
