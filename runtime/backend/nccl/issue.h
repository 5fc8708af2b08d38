// issue.h - issues the steps of a call to NCCL.

#ifndef COLL_RUNTIME_BACKEND_NCCL_ISSUE_H
#define COLL_RUNTIME_BACKEND_NCCL_ISSUE_H

#include "runtime/backend/nccl/plan.h"
#include "runtime/dl/nccl.h"

namespace coll::rt::nccl {

// Any thread may call it, with the GPU current; no other thread may use the communicator meanwhile.
// `size`: its members.
Status issueSteps(const dl::Nccl &nccl, dl::NcclComm comm, int size, const Call &call,
                  const Plan &plan, dl::CudaStream stream);

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_ISSUE_H
