#include "runtime/net/gpu/request.h"

#include <algorithm>

namespace coll::net {

bool anyCuda(const Segment *segments, int count) {
  return std::any_of(segments, segments + count, isCuda);
}

void translate(const Segment *segments, int count, std::vector<Segment> &result) {
  result.clear();
  for (const Segment *segment = segments; segment < segments + count; ++segment) {
    const DeviceMemory *memory = deviceMemory(*segment);
    if (memory && memory->inner)
      result.push_back({memory->innerData(*segment), segment->bytes, memory->inner});
    else
      result.push_back({segment->data, segment->bytes, nullptr});
  }
}

void listBlocks(const BouncePool &pool, const BlockList &blocks, uint64_t bytes,
                std::vector<Segment> &segments) {
  segments.clear();
  for (uint32_t i = 0; bytes > 0; ++i) {
    uint64_t part = std::min(bytes, BouncePool::kBlockBytes);
    segments.push_back({pool.host(blocks.numbers[i]), part, nullptr});
    bytes -= part;
  }
}

void GpuRequest::reset(Kind newKind) {
  kind = newKind;
  path = Path::Host;
  inner = nullptr;
  bytes = tag = address = landedBytes = 0;
  segments.clear();
  gpu.reset();
  stream = {};
  runs.clear();
  copying = aimed = false;
  slot = -1;
  failure = {};
}

} // namespace coll::net
