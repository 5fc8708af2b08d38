// guest.h - a peer of a bond that is let in over plain links, and then sends any frames.

#ifndef COLL_TEST_NET_GUEST_H
#define COLL_TEST_NET_GUEST_H

#include "runtime/net/transport.h"

#include <memory>
#include <vector>

namespace coll::net::test {

inline constexpr int kGuestRails = 3;
using Links = std::vector<std::unique_ptr<Connection>>;

// All links of a connection to a listener of `ours`, over devices of `raw`; `theirs` is the
// other end.
Links enter(Transport &raw, Transport &ours, std::unique_ptr<Connection> &theirs);
// The same where ours is the one that connects.
Links lure(Transport &raw, Transport &ours, std::unique_ptr<Connection> &theirs);

} // namespace coll::net::test

#endif // COLL_TEST_NET_GUEST_H
