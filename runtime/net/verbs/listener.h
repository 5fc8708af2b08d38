// listener.h - accepts connections, and connects.

#ifndef COLL_RUNTIME_NET_VERBS_LISTENER_H
#define COLL_RUNTIME_NET_VERBS_LISTENER_H

#include "runtime/net/verbs/message.h"
#include "runtime/net/verbs/shared.h"

#include <memory>

namespace coll::net::verbs {

Result<std::unique_ptr<Listener>> makeListener(Shared &shared, int device);
Result<std::unique_ptr<Connector>> makeConnector(Shared &shared, int device,
                                                 const HandleContent &peer);

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_LISTENER_H
