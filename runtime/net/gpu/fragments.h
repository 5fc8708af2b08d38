// fragments.h - messages that are sent as shuffled fragments (COLL_NET_SCATTER).
//
// A network that delivers datagrams, or a NIC that splits headers from payload, leaves a message in
// scattered pieces. This emulates it over any transport: fragments in random order and of random
// length, followed by a trailer that says where each belongs. The trailer is last because the
// receiver does not know how long the message will be:
//
//   fragments…                       `total` bytes
//   {offset u64, bytes u64} × count  one per fragment, in the order of the stream
//   magic u32, count u32, total u64
//
// Little-endian. The receiver trusts none of it: see parseTrailer().

#ifndef COLL_RUNTIME_NET_GPU_FRAGMENTS_H
#define COLL_RUNTIME_NET_GPU_FRAGMENTS_H

#include "runtime/base/status.h"
#include "runtime/net/transport.h"

#include <vector>

namespace coll::net {

struct Fragment {
  uint64_t offset = 0; // in the message
  uint64_t bytes = 0;
};

inline constexpr uint32_t kMaxFragments = 1500;
inline constexpr uint64_t kFooterBytes = 16;
inline constexpr uint64_t kMaxTrailerBytes = kMaxFragments * 16 + kFooterBytes;

// The stream of the message in the segments, which are in host memory. `seed` shuffles.
std::vector<uint8_t> shuffle(const Segment *segments, int count, uint64_t seed);

// Copies `bytes` bytes to [offset, offset + bytes) of the concatenated segments.
void place(const std::vector<Segment> &segments, uint64_t offset, const uint8_t *from,
           uint64_t bytes);

// The fragments of a stream of `streamBytes` bytes, whose last `tailBytes` bytes are at `tail` (all
// of it, or at least kMaxTrailerBytes), for a receiver with room for `capacity` bytes. Together
// they cover the message exactly once. kCollMismatch: the message is too long; kCollPeer: shuffle()
// cannot have made the stream.
Result<std::vector<Fragment>> parseTrailer(const uint8_t *tail, uint64_t tailBytes,
                                           uint64_t streamBytes, uint64_t capacity);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_FRAGMENTS_H
