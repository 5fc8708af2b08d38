// net.h - the backend whose ranks talk over the transports of runtime/net.

#ifndef COLL_RUNTIME_BACKEND_NET_NET_H
#define COLL_RUNTIME_BACKEND_NET_NET_H

#include "runtime/backend/backend.h"

namespace coll::rt::network {

// With options.job: this process is one rank of a job; blocks until all ranks are
// connected, for options.timeoutUs at most. Without: all ranks are in this process, each
// with connections of its own. Supports every call, also started ones.
Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_NET_H
