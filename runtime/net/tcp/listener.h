// listener.h - incoming connections: each stream proves the secret, then the streams of one
// connection are put together.

#ifndef COLL_RUNTIME_NET_TCP_LISTENER_H
#define COLL_RUNTIME_NET_TCP_LISTENER_H

#include "runtime/net/listener_handle.h"
#include "runtime/net/tcp/shared.h"

#include <memory>
#include <optional>

namespace coll::net::tcp {

// The content of a Handle: magic, version, streams, and what every listener adds.
struct HandleContent : ListenerHandle {
  uint32_t streams = 0; // of a connection, the control stream included
};
Handle encodeHandle(const HandleContent &content);
// Nullopt if the handle belongs to another transport.
std::optional<HandleContent> decodeHandle(const Handle &handle);

Result<std::unique_ptr<Listener>> makeListener(Shared &shared, int device);
Result<std::unique_ptr<Connector>> makeConnector(Shared &shared, int device,
                                                 const HandleContent &peer);

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_LISTENER_H
