// module.h - the loaded GPU kernels of a program.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_MODULE_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_MODULE_H

#include "runtime/gpu/gpu.h"
#include "runtime/program/program.h"

#include <memory>
#include <vector>

namespace coll::rt {

// Ranks on the same GPU share it. Any thread whose GPU is current may launch its kernels.
class GpuModule {
public:
  // Loads the program's image, which the driver compiles if it is PTX, or finds it loaded already.
  // The error holds the compiler's log.
  static Result<std::shared_ptr<GpuModule>> load(const gpu::Gpu &gpu, const Program &program);
  ~GpuModule();
  GpuModule(const GpuModule &) = delete;
  GpuModule &operator=(const GpuModule &) = delete;

  int numKernels() const { return static_cast<int>(kernels_.size()); }
  const GpuKernel &kernel(int index) const { return kernels_[static_cast<size_t>(index)]; }
  // `args` as in abi.def.
  Status launch(int index, const void *const *args, dl::CudaStream stream) const;

private:
  explicit GpuModule(const gpu::Gpu &gpu) : context_(gpu.context()) {}
  Status load(const char *image, const gpu::Gpu &gpu);
  Status find(const GpuKernel &kernel);

  const std::shared_ptr<dl::GpuContext> context_;
  dl::CudaModule module_ = nullptr;
  std::vector<GpuKernel> kernels_;
  std::vector<dl::CudaFunction> functions_; // of the kernels
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_MODULE_H
