// direct.h - the backend whose ranks move GPU memory inside a node by our own kernels, over
// peer memory. See README.md.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_DIRECT_H
#define COLL_RUNTIME_BACKEND_DIRECT_DIRECT_H

#include "runtime/backend/backend.h"
#include "runtime/backend/demand.h"

namespace coll::rt::direct {

// Ok, or why it cannot connect so many ranks on any machine.
Status takes(const BackendOptions &options);
// Ok, or why it cannot be created here for so many ranks. Creates nothing. It does not check what
// the ranks have to find out together (one node, peer access).
Status available(const BackendOptions &options);

// `below` connects the same ranks on host memory, or is above a backend that does; the backend
// takes ownership.
Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options,
                                               std::unique_ptr<Backend> below);

// For callers that can do without it. If the ranks find that it cannot serve them, `refusal` says
// why, the same on all of them, and `backend` serves as `below` did. `demand` is what this rank's
// routes ask for. With ByDefault it is refused where it was not measured (unasked.h), and allocates
// memory only for small calls of the group of all ranks. If the ranks' demands differ, it is
// refused too.
struct Offer {
  std::unique_ptr<Backend> backend;
  Status refusal;
};
Result<Offer> offerBackend(const BackendOptions &options, std::unique_ptr<Backend> below,
                           Demand demand);

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_DIRECT_H
