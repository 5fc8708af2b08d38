#include "runtime/net/gpu/fragments.h"

#include "runtime/net/wire.h"

#include <algorithm>

namespace coll::net {

namespace {

constexpr uint32_t kMagic = 0x74616373;
constexpr uint64_t kEntryBytes = 16;

uint64_t next(uint64_t &state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

// Lengths vary, so that fragments begin at any alignment.
std::vector<Fragment> cut(uint64_t total, uint64_t &random) {
  std::vector<Fragment> fragments;
  uint64_t mean = std::max<uint64_t>(4096, total / (kMaxFragments / 2 - 50));
  for (uint64_t at = 0; at < total;) {
    uint64_t bytes = std::min(total - at, mean / 2 + 1 + next(random) % mean);
    fragments.push_back({at, bytes});
    at += bytes;
  }
  for (size_t i = fragments.size(); i > 1; --i)
    std::swap(fragments[i - 1], fragments[next(random) % i]);
  return fragments;
}

// Calls visit(data, bytes) for each segment's part of [offset, offset + bytes) of all of them.
template <typename Visit>
void forEachPart(const Segment *segments, uint64_t offset, uint64_t bytes, Visit visit) {
  for (; bytes > 0; ++segments) {
    uint64_t skip = std::min(offset, segments->bytes);
    uint64_t part = std::min(bytes, segments->bytes - skip);
    if (part > 0)
      visit(static_cast<uint8_t *>(segments->data) + skip, part);
    bytes -= part;
    offset -= skip;
  }
}

Status malformed(const char *what) {
  return {kCollPeer, std::string("a scattered message with ") + what};
}

// Whether the fragments cover the message: each byte exactly once.
bool coverExactly(std::vector<Fragment> fragments, uint64_t total) {
  std::sort(fragments.begin(), fragments.end(),
            [](const Fragment &a, const Fragment &b) { return a.offset < b.offset; });
  uint64_t at = 0;
  for (const Fragment &fragment : fragments) {
    if (fragment.offset != at || fragment.bytes == 0 || fragment.bytes > total - at)
      return false;
    at += fragment.bytes;
  }
  return at == total;
}

} // namespace

std::vector<uint8_t> shuffle(const Segment *segments, int count, uint64_t seed) {
  uint64_t total = 0;
  for (int i = 0; i < count; ++i)
    total += segments[i].bytes;
  uint64_t random = seed * 0x9e3779b97f4a7c15u + 1;
  std::vector<Fragment> fragments = cut(total, random);
  std::vector<uint8_t> stream(total + fragments.size() * kEntryBytes + kFooterBytes);
  uint8_t *at = stream.data();
  wire::Encoder trailer(at + total);
  for (const Fragment &fragment : fragments) {
    forEachPart(segments, fragment.offset, fragment.bytes, [&](uint8_t *data, uint64_t bytes) {
      std::memcpy(at, data, bytes);
      at += bytes;
    });
    trailer.put(fragment.offset).put(fragment.bytes);
  }
  trailer.put(kMagic).put(static_cast<uint32_t>(fragments.size())).put(total);
  return stream;
}

void place(const std::vector<Segment> &segments, uint64_t offset, const uint8_t *from,
           uint64_t bytes) {
  forEachPart(segments.data(), offset, bytes, [&](uint8_t *data, uint64_t part) {
    std::memcpy(data, from, part);
    from += part;
  });
}

Result<std::vector<Fragment>> parseTrailer(const uint8_t *tail, uint64_t tailBytes,
                                           uint64_t streamBytes, uint64_t capacity) {
  if (streamBytes < kFooterBytes || tailBytes < kFooterBytes)
    return malformed("no trailer");
  wire::Decoder footer(tail + tailBytes - kFooterBytes);
  auto magic = footer.get<uint32_t>();
  auto count = footer.get<uint32_t>();
  auto total = footer.get<uint64_t>();
  if (magic != kMagic || count > kMaxFragments)
    return malformed("a wrong trailer");
  uint64_t trailerBytes = count * kEntryBytes + kFooterBytes;
  if (trailerBytes > tailBytes || total != streamBytes - trailerBytes)
    return malformed("a trailer of another length");
  if (total > capacity)
    return Status(kCollMismatch, "a message of " + std::to_string(total) +
                                     " bytes for a receive of " + std::to_string(capacity));
  std::vector<Fragment> fragments(count);
  wire::Decoder entries(tail + tailBytes - trailerBytes);
  for (Fragment &fragment : fragments) {
    fragment.offset = entries.get<uint64_t>();
    fragment.bytes = entries.get<uint64_t>();
  }
  if (!coverExactly(fragments, total))
    return malformed("fragments that do not fit together");
  return fragments;
}

} // namespace coll::net
