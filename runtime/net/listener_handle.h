// listener_handle.h - what a peer has to know of a listener, whatever the transport.

#ifndef COLL_RUNTIME_NET_LISTENER_HANDLE_H
#define COLL_RUNTIME_NET_LISTENER_HANDLE_H

#include "runtime/net/socket.h"
#include "runtime/net/wire.h"

#include <array>
#include <optional>

namespace coll::net {

// Follows the transport's own magic and version in a Handle: family (4 or 6), port, address
// (16 bytes), scope, listener's number, whether a secret follows, the secret (32 bytes).
struct ListenerHandle {
  static constexpr size_t kBytes = 1 + 2 + 16 + 4 + 8 + 1 + 32;

  Address address;
  uint64_t listener = 0;
  // The listener's own, where the job has none.
  std::optional<std::array<uint8_t, 32>> secret;
};
// kBytes bytes; without a secret the last 32 are left as they are.
void encode(const ListenerHandle &handle, wire::Encoder &encoder);
// Nullopt where it is neither IPv4 nor IPv6.
std::optional<ListenerHandle> decodeListener(wire::Decoder &decoder);

// Fills the handle of a new listener: where `socket` listens, a number and, where the job has no
// secret, one of its own. Returns what its peers have to prove.
Result<Secret> nameListener(const Fd &socket, const std::optional<Secret> &ofJob,
                            ListenerHandle &handle);

// What the peers of a listener have to prove: the job's secret or, where there is none,
// the listener's. An error where one side has a job's secret and the other not.
Result<Secret> secretFor(const std::optional<Secret> &ofJob, const ListenerHandle &handle);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_LISTENER_HANDLE_H
