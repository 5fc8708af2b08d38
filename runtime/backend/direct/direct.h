// direct.h - the backend whose ranks move GPU memory inside a node by our own kernels, over
// peer memory. See README.md.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_DIRECT_H
#define COLL_RUNTIME_BACKEND_DIRECT_DIRECT_H

#include "runtime/backend/backend.h"
#include "runtime/backend/demand.h"

namespace coll::rt::direct {

// Why it cannot connect so many ranks on any machine, or ok.
Status takes(const BackendOptions &options);
// Why it cannot be created here for so many ranks, or ok. Creates nothing. It does not ask what the
// ranks have to find out together (one node, peer access).
Status available(const BackendOptions &options);

// `below` connects the same ranks on host memory, or stands on a backend that does; the backend
// takes ownership.
Result<std::unique_ptr<Backend>> createBackend(const BackendOptions &options,
                                               std::unique_ptr<Backend> below);

// For callers that can do without it: if the ranks find out that it cannot serve, `refusal` says
// why, the same on all of them, and `backend` serves as `below` did. `demand` is what this rank's
// routes ask for. ByDefault it is refused wherever it was not measured, and allocates memory only
// for small calls of the group of all ranks. If the ranks' demands differ, it is refused too.
struct Offer {
  std::unique_ptr<Backend> backend;
  Status refusal;
};
Result<Offer> offerBackend(const BackendOptions &options, std::unique_ptr<Backend> below,
                           Demand demand);

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_DIRECT_H
