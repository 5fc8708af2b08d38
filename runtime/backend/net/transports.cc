// The only place that names transports. A new transport adds a function and a line.

#include "runtime/backend/net/transports.h"

#include "runtime/net/bond/bond.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/tcp/tcp.h"
#ifdef COLL_HAVE_VERBS
#include "runtime/net/verbs/verbs.h"
#endif

namespace coll::rt::network {

namespace {

using Made = Result<std::unique_ptr<net::Transport>>;
using Factory = Made (*)(const TransportOptions &options, const net::Secret &secret);

Made createTcp(const TransportOptions &options, const net::Secret &secret) {
  net::TcpOptions tcp = net::TcpOptions::fromEnv();
  if (!options.iface.empty())
    tcp.iface = options.iface;
  tcp.timeoutUs = options.timeoutUs;
  tcp.cores = options.cores;
  return net::createTcpTransport(tcp, secret);
}

#ifdef COLL_HAVE_VERBS
Made createVerbs(const TransportOptions &options, const net::Secret &secret) {
  net::VerbsOptions verbs = net::VerbsOptions::fromEnv();
  if (!options.iface.empty())
    verbs.iface = options.iface;
  verbs.timeoutUs = options.timeoutUs;
  return net::createVerbsTransport(verbs, secret);
}
#endif

Made createLoopback(const TransportOptions &options, const net::Secret &) {
  if (!options.isOneProcess)
    return Status::invalid("transport loopback stays inside one process");
  return net::createLoopbackTransport();
}

struct Registration {
  const char *name;
  Factory create;
};

constexpr Registration kTransports[] = {
    {"tcp", createTcp},
#ifdef COLL_HAVE_VERBS
    {"verbs", createVerbs},
#endif
    {"loopback", createLoopback},
};

} // namespace

Result<std::unique_ptr<net::Transport>> createTransport(const std::string &name,
                                                        const TransportOptions &options,
                                                        const net::Secret &secret) {
  std::string known;
  for (const Registration &transport : kTransports) {
    if (name == transport.name) {
      Made made = transport.create(options, secret);
      return made.ok() ? net::bondFromEnv(made.take(), options.timeoutUs) : std::move(made);
    }
    known += (known.empty() ? "" : ", ") + std::string(transport.name);
  }
  return Status::invalid("no transport is called \"" + name + "\"; known: " + known);
}

} // namespace coll::rt::network
