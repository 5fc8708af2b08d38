// unasked.h - whom direct serves under backend auto where no table of routes asks for it: ranks on
// GPUs that its times were taken on, connected as those were; and with how much memory.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_UNASKED_H
#define COLL_RUNTIME_BACKEND_DIRECT_UNASKED_H

#include "runtime/dl/cuda.h"
#include "runtime/kernels/peer/group.h"

namespace coll::rt::direct {

// Ranks of a job: more have not been timed.
inline constexpr int kMostUnasked = 4;

// Why ranks on these two GPUs, which this process sees, are not served, or ok. One twice: a rank.
Status servesUnasked(const dl::Cuda &cuda, int gpu, int peer);

// Of the group of all ranks: for small calls, which go in packets. Not larger than `most`.
kernels::WorkspaceSizes unaskedSizes(kernels::WorkspaceSizes most);

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_UNASKED_H
