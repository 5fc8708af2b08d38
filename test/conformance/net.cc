// Backend net with its ranks in one process: over the loopback transport, over sockets, and with
// each algorithm forced that would not be selected for so few ranks.

#include "test/conformance/harness.h"

COLL_CONFORMANCE_AS(net_loopback, "net/loopback");
COLL_CONFORMANCE_OF_DATA(net_ring, "net/loopback/ring");
COLL_CONFORMANCE_OF_DATA(net_halving, "net/loopback/halving");
COLL_CONFORMANCE_OF_DATA(net_tree, "net/loopback/tree");

// Arithmetic does not depend on the transport, but timing and failures do.
COLL_CONFORMANCE_OF_DATA(net_tcp, "net/tcp");
namespace coll::rt::test {
INSTANTIATE_TEST_SUITE_P(net_tcp, Transfers, testing::Values("net/tcp"));
INSTANTIATE_TEST_SUITE_P(net_tcp, Asynchrony, testing::Values("net/tcp"));
INSTANTIATE_TEST_SUITE_P(net_tcp, Failures, testing::Values("net/tcp"));
} // namespace coll::rt::test
