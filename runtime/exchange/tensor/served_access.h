// served_access.h - the client side of server.h: accesses a tensor through its owner's thread.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_SERVED_ACCESS_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_SERVED_ACCESS_H

#include "runtime/exchange/flow/box_flow.h"
#include "runtime/exchange/tensor/wire.h"

#include <memory>

namespace coll::rt::exchange {

// A connection to an owner's listener, with the messages on it.
struct OwnerLink {
  BoxQuestion question;
  BoxAnswer refusal, outcome;
  std::unique_ptr<net::Connection> connection; // destroyed before the buffers
};

struct ServedAccess {
  uint64_t id = 0, key = 0, handleSum = 0; // of the handle
  bool reads = true;
  int64_t timeoutUs = 0; // limit without any progress
};

// Moves a box between the tensor's memory and `local` through the lane; blocks. kCollInvalidCall
// means that the owner refused. After any other failure the link has to be closed.
Status moveServed(OwnerLink &link, ChunkLane &lane, const ServedAccess &access,
                  const StridedBox &box, const BoxMemory &local);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_SERVED_ACCESS_H
