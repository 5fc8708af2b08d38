#include "runtime/net/loopback/loopback.h"

#include "test/conformance/transport/harness.h"

namespace {

std::unique_ptr<coll::net::Transport> makeLoopback() {
  return coll::net::createLoopbackTransport().take();
}

} // namespace

COLL_TRANSPORT_CONFORMANCE(loopback, makeLoopback);
