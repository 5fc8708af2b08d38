// names.h - how NCCL calls what this runtime does; plugins compare these texts.

#ifndef COLL_RUNTIME_PROFILER_HOST_NAMES_H
#define COLL_RUNTIME_PROFILER_HOST_NAMES_H

#include "runtime/base/codes.h"

namespace coll::profiler {

// "AllReduce" for "all_reduce"; the name itself where NCCL has no such operation.
const char *ncclFunction(const char *name);
// "ncclFloat32"; "Unknown" where NCCL has no such type.
const char *ncclDatatype(CollDtype dtype);

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_NAMES_H
