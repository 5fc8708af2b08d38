// plan.h - the steps of a call on a member's stream: copies, calls of NCCL, copies.
//
// NCCL moves dense blocks, one after the other. Blocks that interleave (outer > 1) are packed into
// scratch memory first, or unpacked from it afterwards; so is the source of a call in place that
// would be overwritten before it is read. Types that NCCL does not know are sent as bytes. A plan
// is made on the host from the call alone, on any thread, and names buffers that it does not own.

#ifndef COLL_RUNTIME_BACKEND_NCCL_PLAN_H
#define COLL_RUNTIME_BACKEND_NCCL_PLAN_H

#include "runtime/backend/backend.h"
#include "runtime/gpu/gpu.h"

#include <vector>

namespace coll::rt::nccl {

using gpu::Copy;

struct Step {
  OpKind kind = OpKind::AllReduce; // also Send and Recv; several of them form one group
  const char *src = nullptr;
  char *dst = nullptr;
  int64_t count = 0; // in the units of NCCL's function
  int dtype = 0, op = 0;
  int peer = 0; // or root
};

struct Plan {
  std::vector<Copy> before;
  std::vector<Step> steps;
  std::vector<Copy> after;
  int64_t scratchBytes = 0;
};

// For the member at `me` of `n`. The call is supported (types.h). `scratch` has the scratchBytes
// that a plan of the same call asks for; it is null when a plan is made to find that number. A
// transfer's communicator holds the sender and the receiver, in this order. `hasAllToAll`: NCCL has
// the function.
Plan planOf(const Call &call, int n, int me, char *scratch, bool hasAllToAll);

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_PLAN_H
