// gpu_memory.h - lets the conformance suites run on GPU buffers.
//
// A call on host memory is made on copies in GPU memory instead, and the result is copied back.

#ifndef COLL_TEST_CONFORMANCE_GPU_MEMORY_H
#define COLL_TEST_CONFORMANCE_GPU_MEMORY_H

#include "runtime/backend/backend.h"

#include <memory>
#include <string>

namespace coll::rt::test {

// A call's buffers while they are in GPU memory.
class StagedCall {
public:
  virtual ~StagedCall() = default;
  virtual const Call &call() const = 0;
  // Copies the result back.
  virtual void finish() = 0;
};

// One at a time; must outlive the backend.
class GpuMemory {
public:
  virtual ~GpuMemory() = default;
  virtual int gpus() const = 0;
  // Copies the buffers of the call, of the member at `position` of n on rank `rank`. Must outlive
  // the returned object.
  virtual std::unique_ptr<StagedCall> stage(const Call &call, int rank, int n, int position) = 0;
};

// "gpu": the machine's; "fake": a driver and kernels that are emulated; "fake-nccl": a driver
// and NCCL that are; "fake-direct": a driver and the kernels of backend direct that are. Null, with
// the reason, where there is none. Set by gpu_memory.cc where backend net is built.
using MakeGpuMemory = std::unique_ptr<GpuMemory> (*)(const std::string &kind, std::string &whyNot);
inline MakeGpuMemory makeGpuMemory = nullptr;

} // namespace coll::rt::test

#endif // COLL_TEST_CONFORMANCE_GPU_MEMORY_H
