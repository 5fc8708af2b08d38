// activity.h - an operation in flight on this rank.

#ifndef COLL_RUNTIME_BACKEND_NET_ACTIVITY_H
#define COLL_RUNTIME_BACKEND_NET_ACTIVITY_H

#include "runtime/backend/backend.h"

#include <cstdint>
#include <vector>

namespace coll::rt::network {

// Belongs to one thread at a time. An activity that has begun and not ended may be destroyed only
// after its mesh was closed: until then the transport may use its buffers.
class Activity {
public:
  virtual ~Activity() = default;

  // Does some of the work that is possible without waiting. Sets `moved` if it did some; there may
  // be more. Returns true once the operation is complete on this rank.
  virtual Result<bool> advance(bool &moved) = 0;
  // Global ranks whose messages are missing. A send in flight names no rank, because a peer that
  // has what it needs may leave before this side learns that the send is done.
  virtual std::vector<int> waitingFor() const = 0;
  // Equal for the members of one operation, and different for all others; 0: not known yet.
  virtual uint64_t key() const = 0;

  // After an error: the rank whose connection failed, or -1.
  int failedPeer = -1;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_ACTIVITY_H
