// Backend net with its ranks in one process: over sockets, over the loopback transport,
// and with each algorithm forced that would not be chosen for so few ranks.

#include "test/conformance/harness.h"

COLL_CONFORMANCE_AS(net_tcp, "net/tcp");
COLL_CONFORMANCE_AS(net_loopback, "net/loopback");
COLL_CONFORMANCE_OF_DATA(net_ring, "net/loopback/ring");
COLL_CONFORMANCE_OF_DATA(net_halving, "net/loopback/halving");
COLL_CONFORMANCE_OF_DATA(net_tree, "net/loopback/tree");
