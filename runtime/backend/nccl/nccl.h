// nccl.h - the backend whose ranks move GPU memory by NCCL. See README.md.

#ifndef COLL_RUNTIME_BACKEND_NCCL_NCCL_H
#define COLL_RUNTIME_BACKEND_NCCL_NCCL_H

#include "runtime/backend/backend.h"

namespace coll::rt::nccl {

// `control` connects the same ranks on host memory; the backend takes ownership.
Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options,
                                               std::unique_ptr<Backend> control);
// Ok, or why it cannot be created here for so many ranks. Creates nothing.
Status available(const BackendOptions &options);

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_NCCL_H
