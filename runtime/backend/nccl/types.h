// types.h - maps this project's types and reductions to NCCL's.

#ifndef COLL_RUNTIME_BACKEND_NCCL_TYPES_H
#define COLL_RUNTIME_BACKEND_NCCL_TYPES_H

#include "runtime/backend/backend.h"
#include "runtime/dl/nccl.h"

namespace coll::rt::nccl {

struct Arithmetic {
  int dtype = 0; // ncclDataType_t
  int op = 0;    // ncclRedOp_t
};

// kCollUnsupported, with the reason, if NCCL has no such reduction.
Result<Arithmetic> arithmeticOf(CollDtype dtype, CollReduction reduction);

// The answer of Backend::supports: all movements of all types, and NCCL's own reductions, in an
// order that NCCL chooses. `hasFp8`: library and GPU reduce 8-bit floats.
Status supports(const Call &call, bool hasFp8);

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_TYPES_H
