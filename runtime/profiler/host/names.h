// names.h - NCCL's names for operations and types of this runtime; plugins compare these texts.

#ifndef COLL_RUNTIME_PROFILER_HOST_NAMES_H
#define COLL_RUNTIME_PROFILER_HOST_NAMES_H

#include "runtime/base/codes.h"

namespace coll::profiler {

// "AllReduce" for "all_reduce"; the name itself if NCCL has no such operation.
const char *ncclFunction(const char *name);
// "ncclFloat32"; "Unknown" if NCCL has no such type.
const char *ncclDatatype(CollDtype dtype);

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_NAMES_H
