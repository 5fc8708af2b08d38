// plan.h - what a call becomes on a member's stream: copies, calls of NCCL, copies.
//
// NCCL moves dense blocks, one after the other. Blocks that interleave (outer > 1) are packed
// into scratch memory first, or unpacked from it afterwards; so is what would be overwritten
// before it is read in a call in place. Types that NCCL does not know travel as bytes. A plan is
// made on the host from the call alone, on any thread, and names buffers that it does not own.

#ifndef COLL_RUNTIME_BACKEND_NCCL_PLAN_H
#define COLL_RUNTIME_BACKEND_NCCL_PLAN_H

#include "runtime/backend/backend.h"
#include "runtime/gpu/gpu.h"

#include <vector>

namespace coll::rt::nccl {

using gpu::Copy;

struct Step {
  OpKind kind = OpKind::AllReduce; // also Send and Recv, of which several are one group
  const char *src = nullptr;
  char *dst = nullptr;
  int64_t count = 0; // as the function of NCCL takes it
  int dtype = 0, op = 0;
  int peer = 0; // or root
};

struct Plan {
  std::vector<Copy> before;
  std::vector<Step> steps;
  std::vector<Copy> after;
  int64_t scratchBytes = 0;
};

// For the member at `me` of `n`. The call is supported (types.h). `scratch` has the
// scratchBytes that a plan of the same call asks for; null while asking. A transfer's
// communicator holds the sender and the receiver, in this order. `hasAllToAll`: NCCL does.
Plan planOf(const Call &call, int n, int me, char *scratch, bool hasAllToAll);

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_PLAN_H
