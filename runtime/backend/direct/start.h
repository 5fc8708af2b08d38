// start.h - connects the ranks of a node. Each step ends with an exchange of results, so that
// either all ranks continue, or none.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_START_H
#define COLL_RUNTIME_BACKEND_DIRECT_START_H

#include "runtime/backend/backend.h"
#include "runtime/backend/direct/engine.h"
#include "runtime/gpu/gpu.h"

#include <memory>
#include <vector>

namespace coll::rt::direct {

// A rank of this process that is being connected.
struct Start {
  int rank = 0;
  std::unique_ptr<Endpoint> below;
  std::unique_ptr<gpu::Gpu> gpu;
  std::unique_ptr<DirectEngine> engine;
};

struct Met {
  Status failure; // of this process only: the job cannot continue
  Status refusal; // the same on all ranks
};
// Fills gpu and engine of all ranks of this process; the group of all ranks is connected. Blocks. A
// rank without a platform, or without a demand, calls it too, so that the others learn of it.
Met meet(const Result<Platform> &platform, const BackendOptions &options, Demand demand,
         std::vector<Start> &ranks);

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_START_H
