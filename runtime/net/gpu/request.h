// request.h - a request of a connection over GPU memory, and the buffers it names.

#ifndef COLL_RUNTIME_NET_GPU_REQUEST_H
#define COLL_RUNTIME_NET_GPU_REQUEST_H

#include "runtime/net/gpu/device_memory.h"
#include "runtime/net/gpu/staged_copy.h"
#include "runtime/net/gpu/unpack_slots.h"

namespace coll::net {

struct GpuRequest final : Request {
  enum class Kind { Pass, Flushed, Receive, Send };
  enum class Path { Host, Direct, Kernel, Staged };

  // Resets the request, except for memory and events that can be reused.
  void reset(Kind newKind);

  Kind kind = Kind::Pass;
  Path path = Path::Host;
  Request *inner = nullptr; // below; null if not posted yet, or ended
  uint64_t bytes = 0;       // room of a receive, length of a send
  uint64_t tag = 0;         // of the request below
  // as posted below, or to be posted; for a scattered receive into host memory, the caller's
  // segments
  std::vector<Segment> segments;
  uint64_t address = 0;     // in GPU memory
  std::shared_ptr<Gpu> gpu; // the GPU of that memory
  BlockList blocks;
  std::vector<uint8_t> stream; // host memory of a scattered message
  Runs runs;
  StagedCopy copy;
  bool copying = false;
  bool needsSlot = false;   // the message has arrived, but no slot was free
  bool aimed = false;       // a send's segments are those to be posted below
  int64_t slot = -1;        // number of the message among those with slots
  uint64_t landedBytes = 0; // length of a message that was received
  Status failure;
};

// Whether one of the segments is GPU memory.
bool anyCuda(const Segment *segments, int count);
// The segments for the transport below: host memory, and memory that it reaches itself.
void translate(const Segment *segments, int count, std::vector<Segment> &result);
// The first `bytes` bytes of the blocks, as addresses for the processor.
void listBlocks(const BouncePool &pool, const BlockList &blocks, uint64_t bytes,
                std::vector<Segment> &segments);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_REQUEST_H
