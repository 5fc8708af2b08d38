// transports.h - the transports of the backend, by name.

#ifndef COLL_RUNTIME_BACKEND_NET_TRANSPORTS_H
#define COLL_RUNTIME_BACKEND_NET_TRANSPORTS_H

#include "runtime/net/auth.h"
#include "runtime/net/transport.h"

#include <memory>
#include <string>

namespace coll::rt::network {

struct TransportOptions {
  std::string iface; // as COLL_NET_IFACE
  int64_t timeoutUs = 60'000'000;
  bool isOneProcess = false; // all ranks are in this process
  double cores = 0;          // that a rank has to itself; 0: unknown
};

// An unknown name fails and lists the known ones.
Result<std::unique_ptr<net::Transport>> createTransport(const std::string &name,
                                                        const TransportOptions &options,
                                                        const net::Secret &secret);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_TRANSPORTS_H
