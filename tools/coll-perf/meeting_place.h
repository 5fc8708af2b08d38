// meeting_place.h - where the processes that a driver forks meet.

#ifndef COLL_TOOLS_COLL_PERF_MEETING_PLACE_H
#define COLL_TOOLS_COLL_PERF_MEETING_PLACE_H

#include "runtime/backend.h"
#include "runtime/net/socket.h"

namespace coll::perf {

// For so many processes of this machine: an address that `listener` listens at, and a secret of its
// own. Rank 0 gets a duplicate of the listener as its listenFd.
rt::Result<rt::JobOptions> meetingPlace(int ranks, net::Fd &listener);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MEETING_PLACE_H
