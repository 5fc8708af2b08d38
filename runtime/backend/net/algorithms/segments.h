// segments.h - cuts a buffer into segments.

#ifndef COLL_RUNTIME_BACKEND_NET_ALGORITHMS_SEGMENTS_H
#define COLL_RUNTIME_BACKEND_NET_ALGORITHMS_SEGMENTS_H

#include <algorithm>
#include <cstdint>

namespace coll::rt::network {

// Calls visit(number, offset, bytes) for each segment.
template <typename Visit>
void forEachSegment(int64_t bytes, int64_t segmentBytes, Visit visit) {
  int64_t number = 0;
  for (int64_t offset = 0; offset < bytes; offset += segmentBytes)
    visit(number++, offset, std::min(segmentBytes, bytes - offset));
}

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_ALGORITHMS_SEGMENTS_H
