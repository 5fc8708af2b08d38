// guest.h - a peer of a bond that connects over plain links, and then sends arbitrary frames.

#ifndef COLL_TEST_NET_GUEST_H
#define COLL_TEST_NET_GUEST_H

#include "runtime/net/transport.h"

#include <memory>
#include <vector>

namespace coll::net::test {

inline constexpr int kGuestRails = 3;
using Links = std::vector<std::unique_ptr<Connection>>;

// Opens all links of a connection to a listener of `ours`, over devices of `raw`; `theirs` is the
// other end.
Links enter(Transport &raw, Transport &ours, std::unique_ptr<Connection> &theirs);
// The same, but `ours` connects.
Links lure(Transport &raw, Transport &ours, std::unique_ptr<Connection> &theirs);

} // namespace coll::net::test

#endif // COLL_TEST_NET_GUEST_H
