// listener_handle.h - the data that a peer needs to connect to a listener of any transport.

#ifndef COLL_RUNTIME_NET_LISTENER_HANDLE_H
#define COLL_RUNTIME_NET_LISTENER_HANDLE_H

#include "runtime/net/socket.h"
#include "runtime/net/wire.h"

#include <array>
#include <optional>

namespace coll::net {

// Encoded after the transport's own magic and version in a Handle: family (4 or 6), port, address
// (16 bytes), scope, listener's number, whether a secret follows, the secret (32 bytes).
struct ListenerHandle {
  static constexpr size_t kBytes = 1 + 2 + 16 + 4 + 8 + 1 + 32;

  Address address;
  uint64_t listener = 0;
  // The listener's own secret, if the job has none.
  std::optional<std::array<uint8_t, 32>> secret;
};
// kBytes bytes; without a secret the last 32 are not written.
void encode(const ListenerHandle &handle, wire::Encoder &encoder);
// Nullopt if the family is neither IPv4 nor IPv6.
std::optional<ListenerHandle> decodeListener(wire::Decoder &decoder);

// Fills the handle of a new listener: the address of `socket`, a number and, if the job has no
// secret, a secret of the listener. Returns the secret that peers have to prove.
Result<Secret> nameListener(const Fd &socket, const std::optional<Secret> &ofJob,
                            ListenerHandle &handle);

// The secret that a listener's peers have to prove: the job's or, if there is none, the listener's.
// It is an error if only one side has a job's secret.
Result<Secret> secretFor(const std::optional<Secret> &ofJob, const ListenerHandle &handle);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_LISTENER_HANDLE_H
