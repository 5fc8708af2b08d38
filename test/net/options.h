// options.h - the options on the command line of net-tests.

#ifndef COLL_TEST_NET_OPTIONS_H
#define COLL_TEST_NET_OPTIONS_H

#include "runtime/net/auth.h"

#include <cstdint>

namespace coll::net::test {

inline int64_t fuzzFrames = 200'000;  // --frames=N
inline int hostileConnections = 2000; // --connections=N

inline Secret testSecret() { return Secret::create("a secret of this test").take(); }

} // namespace coll::net::test

#endif // COLL_TEST_NET_OPTIONS_H
