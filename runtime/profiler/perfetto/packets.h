// packets.h - the packets of a trace file, one after the other, from untrusted bytes.

#ifndef COLL_RUNTIME_PROFILER_PERFETTO_PACKETS_H
#define COLL_RUNTIME_PROFILER_PERFETTO_PACKETS_H

#include "runtime/base/fd.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace coll::profiler::perfetto {

// Reads a file of messages in the form: tag, length, bytes (fields of one big message), or length,
// bytes (a Chakra trace). Memory is bounded by the longest message, of at most 16 MiB.
class Packets {
public:
  enum class Framing { Fields, Lengths };

  static rt::Result<Packets> open(const std::string &path, Framing framing = Framing::Fields);
  // Reads from memory, which must outlive the object.
  static Packets of(std::string_view bytes, Framing framing = Framing::Fields);

  // False at the end. `packet` is valid until the next call. With Fields, other fields than number
  // 1 are skipped. kCollInvalidCall names the file and the byte at which it is malformed.
  rt::Result<bool> next(std::string_view &packet);
  // Whether the file ends within a packet, as the file of a killed run may.
  bool truncated() const { return truncated_; }
  // Where the packet that was returned last begins.
  uint64_t offset() const { return packetOffset_; }
  const std::string &path() const { return path_; }
  rt::Status malformed(const std::string &what) const;

private:
  Packets(rt::Fd fd, std::string path, Framing framing)
      : fd_(std::move(fd)), path_(std::move(path)), framing_(framing) {}
  enum class Found { Packet, Other, End, Short, Malformed };
  Found parse(std::string_view &packet, size_t &bytes) const;
  rt::Status fill(size_t needed);

  rt::Fd fd_; // invalid: reads from memory
  std::string path_;
  Framing framing_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;     // of buffer_
  std::string_view unread_; // in buffer_, or the memory that is left
  uint64_t offset_ = 0, packetOffset_ = 0;
  bool atEnd_ = false, truncated_ = false;
};

} // namespace coll::profiler::perfetto

#endif // COLL_RUNTIME_PROFILER_PERFETTO_PACKETS_H
