// types.h - what the kernels take.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_TYPES_H
#define COLL_RUNTIME_BACKEND_DIRECT_TYPES_H

#include "runtime/backend/backend.h"

namespace coll::rt::direct {

// What Backend::supports says.
Status supports(const Call &call);

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_TYPES_H
