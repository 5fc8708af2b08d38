// net.h - the backend whose ranks use the transports of runtime/net.

#ifndef COLL_RUNTIME_BACKEND_NET_NET_H
#define COLL_RUNTIME_BACKEND_NET_NET_H

#include "runtime/backend/backend.h"

namespace coll::rt::network {

// With options.job, this process is one rank of a job; blocks until all ranks are connected, for at
// most options.timeoutUs. Without it, all ranks are in this process, each with its own connections.
// Supports every call, blocking and started.
Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_NET_H
