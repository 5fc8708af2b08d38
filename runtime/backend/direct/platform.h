// platform.h - the driver and the kernels that backend direct uses. Tests replace them by
// fakes.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_PLATFORM_H
#define COLL_RUNTIME_BACKEND_DIRECT_PLATFORM_H

#include "runtime/base/replacement.h"
#include "runtime/dl/cuda.h"
#include "runtime/kernels/peer/collectives.h"
#include "runtime/kernels/root_update/root_update.h"

namespace coll::rt::direct {

// The launchers of runtime/kernels with these names, which tests may replace.
struct PeerKernels {
  using Group = kernels::PeerGroup;
  using Reduce = Status (*)(const Group &, const kernels::ReduceArgs &, void *stream);
  using Copy = Status (*)(const Group &, const kernels::CopyArgs &, void *stream);

  Status (*init)(const Group &, void *stream) = nullptr;
  Reduce allReduce = nullptr;
  Reduce reduceScatter = nullptr;
  Reduce reduce = nullptr;
  Copy allGather = nullptr;
  Copy allToAll = nullptr;
  Copy broadcast = nullptr;
  Copy gather = nullptr;
  Copy scatter = nullptr;
  Status (*permute)(const Group &, const kernels::CopyArgs &, const int32_t *pairs,
                    uint32_t numPairs, void *stream) = nullptr;
  Status (*barrier)(const Group &, void *stream) = nullptr;
  Status (*rootUpdate)(const Group &, const kernels::RootUpdate &, const kernels::AnyOptimizer &,
                       void *stream) = nullptr;
  Status (*setStep)(kernels::UpdateStep *step, const kernels::UpdateStep &value,
                    void *stream) = nullptr;
};

struct Platform {
  const dl::Cuda *cuda = nullptr;
  PeerKernels kernels;
  kernels::WorkspaceSizes sizes = kernels::defaultWorkspaceSizes();
  kernels::PeerTuning tuning;
  uint32_t maxBlocks = 0; // see PeerGroup::maxBlocks; 0: a rank's share of its GPU
};

// The machine's, or a test's. kCollUnsupported, with the reason, if there is no GPU or the kernels
// were not built. Any thread may call it.
Result<Platform> platform();

// Replaces the platform while the object lives; no backend may be alive when it begins or
// ends.
using ScopedPlatform = Replacement<Platform>;

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_PLATFORM_H
