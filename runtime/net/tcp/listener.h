// listener.h - connections that come in: each stream proves the secret, then the
// streams of one connection are put together.

#ifndef COLL_RUNTIME_NET_TCP_LISTENER_H
#define COLL_RUNTIME_NET_TCP_LISTENER_H

#include "runtime/net/tcp/shared.h"

#include <array>
#include <memory>
#include <optional>

namespace coll::net::tcp {

// What a Handle holds, in this order: magic, version, streams, family, port, address
// (16 bytes), scope, listener's number, whether a secret follows, the secret (32 bytes).
struct HandleContent {
  Address address;
  uint64_t listener = 0;
  uint32_t streams = 0; // of a connection, the control stream included
  // The listener's own, where the job has none.
  std::optional<std::array<uint8_t, 32>> secret;
};
Handle encodeHandle(const HandleContent &content);
// Nullopt where the handle is none of this transport.
std::optional<HandleContent> decodeHandle(const Handle &handle);

// What the peers of this listener have to prove: the job's secret or, where there is
// none, the listener's. An error where one side has a job's secret and the other not.
Result<Secret> secretFor(const Shared &shared, const HandleContent &content);

Result<std::unique_ptr<Listener>> makeListener(Shared &shared, int device);
Result<std::unique_ptr<Connector>> makeConnector(Shared &shared, int device,
                                                 const HandleContent &peer);

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_LISTENER_H
