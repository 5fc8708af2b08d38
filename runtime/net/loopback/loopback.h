// loopback.h - a transport inside one process: the simplest implementation of the contract.

#ifndef COLL_RUNTIME_NET_LOOPBACK_LOOPBACK_H
#define COLL_RUNTIME_NET_LOOPBACK_LOOPBACK_H

#include "runtime/net/transport.h"

#include <memory>

namespace coll::net {

// One device. Connects to listeners of any loopback transport of the process. The thread that posts
// the second half of a transfer moves the data.
Result<std::unique_ptr<Transport>> createLoopbackTransport();

} // namespace coll::net

#endif // COLL_RUNTIME_NET_LOOPBACK_LOOPBACK_H
