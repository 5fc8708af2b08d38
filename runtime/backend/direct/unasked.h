// unasked.h - which ranks direct serves under backend auto if no table of routes names it: ranks on
// GPUs of the kinds that were measured, and connected in the same way; and how much memory it
// allocates.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_UNASKED_H
#define COLL_RUNTIME_BACKEND_DIRECT_UNASKED_H

#include "runtime/dl/cuda.h"
#include "runtime/kernels/peer/group.h"

namespace coll::rt::direct {

// The largest number of ranks in a job; more have not been measured.
inline constexpr int kMostUnasked = 4;

// Ok, or why ranks on these two GPUs, which this process sees, are not served. The same GPU twice
// stands for one rank.
Status servesUnasked(const dl::Cuda &cuda, int gpu, int peer);

// Sizes for small calls of the group of all ranks, which are sent in packets. At most `most`.
kernels::WorkspaceSizes unaskedSizes(kernels::WorkspaceSizes most);

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_UNASKED_H
