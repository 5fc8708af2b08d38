// box_flow.h - a box as a stream of bytes: its rows laid end to end, in chunks.
//
// Both ends of a connection cut the same box, each with the strides of its own side, so a chunk has
// the same elements at both ends, whatever the layout of the rows.

#ifndef COLL_RUNTIME_EXCHANGE_FLOW_BOX_FLOW_H
#define COLL_RUNTIME_EXCHANGE_FLOW_BOX_FLOW_H

#include "runtime/base/strided_box.h"
#include "runtime/exchange/flow/chunk_flow.h"

#include <vector>

namespace coll::rt::exchange {

// Exchanges source and destination.
StridedBox reversed(StridedBox box);

// Bytes [begin, begin + bytes) of the rows of the box's source, as boxes to memory that holds only
// these bytes. At most two per loop, and one.
std::vector<StridedBox> packedParts(const StridedBox &box, int64_t begin, int64_t bytes);

// Puts a box on the stream for the copy engines; GPU memory or pinned memory. The engine executes
// the longest of its loops that has a pitch; the host runs the other loops.
Status copyByEngine(const dl::GpuContext &gpu, const StridedBox &box, const char *src, char *dst,
                    dl::CudaStream stream);

// Memory of a box's source or destination. `gpu`: memory of that GPU, else host memory.
struct BoxMemory {
  char *data = nullptr;
  const dl::GpuContext *gpu = nullptr;
};

// A flow from the source of `box` in `memory`, or into its destination. The lane's GPU is that of
// the memory.
ChunkFlow boxFlow(const StridedBox &box, const BoxMemory &memory, bool isSend, uint64_t tag,
                  const ChunkLane &lane);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_FLOW_BOX_FLOW_H
