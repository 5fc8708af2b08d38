// types.h - this project's types and reductions in NCCL's words.

#ifndef COLL_RUNTIME_BACKEND_NCCL_TYPES_H
#define COLL_RUNTIME_BACKEND_NCCL_TYPES_H

#include "runtime/backend/backend.h"
#include "runtime/dl/nccl.h"

namespace coll::rt::nccl {

struct Arithmetic {
  int dtype = 0; // ncclDataType_t
  int op = 0;    // ncclRedOp_t
};

// kCollUnsupported where NCCL has no such reduction, with the reason.
Result<Arithmetic> arithmeticOf(CollDtype dtype, CollReduction reduction);

// What Backend::supports says: all movements of all types; of the reductions what NCCL has, in its
// own order. `hasFp8`: library and GPU reduce eight-bit floats.
Status supports(const Call &call, bool hasFp8);

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_TYPES_H
