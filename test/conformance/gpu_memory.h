// gpu_memory.h - lets the conformance suites run on GPU buffers.
//
// A call on host memory is made on copies in GPU memory instead, and the result copied back.

#ifndef COLL_TEST_CONFORMANCE_GPU_MEMORY_H
#define COLL_TEST_CONFORMANCE_GPU_MEMORY_H

#include "runtime/backend.h"

#include <functional>
#include <memory>
#include <string>

namespace coll::rt::test {

// One at a time; outlives the backend.
class GpuMemory {
public:
  virtual ~GpuMemory() = default;
  // Makes `call`, of the member at `position` of n on rank `rank`, on GPU memory by `run`.
  virtual Status call(const Call &call, int rank, int n, int position,
                      const std::function<Status(const Call &)> &run) = 0;
};

// "gpu": the machine's; "fake": a driver and kernels that are emulated. Null, with the
// reason, where there is none. Set by gpu_memory.cc where backend net is built.
using MakeGpuMemory = std::unique_ptr<GpuMemory> (*)(const std::string &kind, std::string &whyNot);
inline MakeGpuMemory makeGpuMemory = nullptr;

} // namespace coll::rt::test

#endif // COLL_TEST_CONFORMANCE_GPU_MEMORY_H
