// activity.h - an operation under way on this rank.

#ifndef COLL_RUNTIME_BACKEND_NET_ACTIVITY_H
#define COLL_RUNTIME_BACKEND_NET_ACTIVITY_H

#include "runtime/backend/backend.h"

#include <cstdint>
#include <vector>

namespace coll::rt::network {

// Belongs to one thread at a time. One that has begun and has not ended may die only after
// its mesh was closed: until then the transport may touch its buffers.
class Activity {
public:
  virtual ~Activity() = default;

  // Does some of what can be done without waiting; `moved` becomes true if that was something,
  // and there may be more. True once the operation is complete on this rank.
  virtual Result<bool> advance(bool &moved) = 0;
  // Global ranks whose messages have not come. A send that is under way names nobody: a
  // peer that has what it waits for may leave before this side hears that its send is done.
  virtual std::vector<int> waitingFor() const = 0;
  // Equal for the members of one operation, and for no other operation; 0: not known yet.
  virtual uint64_t key() const = 0;

  // After an error: the rank whose connection failed, or -1.
  int failedPeer = -1;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_ACTIVITY_H
