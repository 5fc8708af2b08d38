// box_flow.h - a box as a stream of bytes: its rows laid end to end, in chunks.
//
// Both ends of a connection cut the same box, each with its own side's strides, so a chunk means
// the same to both, however the rows lie.

#ifndef COLL_RUNTIME_EXCHANGE_FLOW_BOX_FLOW_H
#define COLL_RUNTIME_EXCHANGE_FLOW_BOX_FLOW_H

#include "runtime/base/strided_box.h"
#include "runtime/exchange/flow/chunk_flow.h"

#include <vector>

namespace coll::rt::exchange {

// The other way round.
StridedBox reversed(StridedBox box);

// Bytes [begin, begin + bytes) of the rows of the box's source: boxes from there to memory that has
// these bytes alone. At most two a loop, and one.
std::vector<StridedBox> packedParts(const StridedBox &box, int64_t begin, int64_t bytes);

// Puts a box on the stream, for the copy engines: memory of GPUs, or pinned. The longest of its
// loops that has a pitch is theirs, the others are the host's.
Status copyByEngine(const dl::GpuContext &gpu, const StridedBox &box, const char *src, char *dst,
                    dl::CudaStream stream);

// Memory that a box starts or ends in. `gpu`: of that GPU, else of the host.
struct BoxMemory {
  char *data = nullptr;
  const dl::GpuContext *gpu = nullptr;
};

// The source of `box` in `memory`, to be sent, or to be written with what comes. The lane's GPU is
// that of the memory.
ChunkFlow boxFlow(const StridedBox &box, const BoxMemory &memory, bool isSend, uint64_t tag,
                  const ChunkLane &lane);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_FLOW_BOX_FLOW_H
