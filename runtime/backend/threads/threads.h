// threads.h - the backend whose ranks are threads of this process.

#ifndef COLL_RUNTIME_BACKEND_THREADS_THREADS_H
#define COLL_RUNTIME_BACKEND_THREADS_THREADS_H

#include "runtime/backend/backend.h"

namespace coll::rt::threads {

// All ranks of the job, in this process. Supports every call, blocking and started.
Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options);

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_THREADS_H
