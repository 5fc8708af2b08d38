#include "runtime/net/requests.h"

#include <string>

namespace coll::net {

namespace {

constexpr uint64_t kPageBytes = 4096;

} // namespace

void BufferRequest::begin(Kind kindOf, const Segment *from, int number, uint64_t bytes) {
  kind = kindOf;
  tag = 0;
  total = capacity = bytes;
  count = number;
  std::copy(from, from + number, segments.begin());
  state = Pending;
}

Result<Completion> BufferRequest::outcome() {
  if (state == Done)
    return Completion{true, total};
  return std::move(failure);
}

Status BufferRequest::truncation() const {
  return {kCollMismatch, "a message of " + std::to_string(total) + " bytes for a smaller receive"};
}

void BufferRequest::gather(uint8_t *to) const {
  forEachPiece(0, total, kMaxRequestSegments, [&](size_t, const uint8_t *from, uint64_t bytes) {
    std::memcpy(to, from, bytes);
    to += bytes;
  });
}

void BufferRequest::scatter(const uint8_t *from, uint64_t bytes) const {
  forEachPiece(0, bytes, kMaxRequestSegments, [&](size_t, uint8_t *to, uint64_t piece) {
    std::memcpy(to, from, piece);
    from += piece;
  });
}

std::vector<Extent> equalParts(uint64_t bytes, uint64_t least, size_t most) {
  std::vector<Extent> parts;
  if (bytes == 0 || most == 0)
    return parts;
  uint64_t count = std::clamp<uint64_t>(bytes / least, 1, most);
  uint64_t size = ((bytes + count - 1) / count + kPageBytes - 1) & ~(kPageBytes - 1);
  for (uint64_t offset = 0; offset < bytes; offset += size)
    parts.push_back({offset, std::min(size, bytes - offset)});
  return parts;
}

} // namespace coll::net
