// types.h - the calls that the kernels support.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_TYPES_H
#define COLL_RUNTIME_BACKEND_DIRECT_TYPES_H

#include "runtime/backend/backend.h"

namespace coll::rt::direct {

// The answer of Backend::supports.
Status supports(const Call &call);

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_TYPES_H
