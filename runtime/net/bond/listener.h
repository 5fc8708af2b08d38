// listener.h - combines links into a connection; frame.h has the messages.

#ifndef COLL_RUNTIME_NET_BOND_LISTENER_H
#define COLL_RUNTIME_NET_BOND_LISTENER_H

#include "runtime/net/bond/shared.h"

#include <memory>

namespace coll::net::bond {

// `shared` outlives them. The thread that calls accept() or poll() does their work.
Result<std::unique_ptr<Listener>> makeListener(Shared &shared, int device);
Result<std::unique_ptr<Connector>> makeConnector(Shared &shared, int device, const Handle &handle);

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_LISTENER_H
