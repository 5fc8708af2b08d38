// convolve.h - convolutions of one rank by cuDNN.
//
// The engine of each form of a convolution is found at its first call: a few that the library
// proposes are timed, and the fastest is kept (choices.h). All of them sum in a fixed order.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_CONVOLVE_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_CONVOLVE_H

#include "runtime/gpu/gpu.h"
#include "runtime/step/device/gpu/convolution_graph.h"
#include "runtime/step/device/gpu/kept_memory.h"

#include <array>
#include <map>
#include <memory>
#include <string>

namespace coll::rt {

class AlgorithmChoices;

// Belongs to the rank's thread, on which its GPU is current. The library's handle belongs to it.
class Convolutions {
public:
  static Result<std::unique_ptr<Convolutions>> create(const dl::Cudnn &dnn, gpu::Gpu &gpu);
  ~Convolutions();
  Convolutions(const Convolutions &) = delete;
  Convolutions &operator=(const Convolutions &) = delete;

  // Identifies convolutions that use the same engine: everything but the addresses, of which only
  // the alignment matters.
  using Form = std::array<int64_t, 26>;

  // Puts the convolution, which is valid and not empty, on the stream. False, with nothing done, if
  // the library has no engine for its form. `isCaptured`: the stream is being captured, so nothing
  // can be timed.
  Result<bool> run(const kernels::Convolution &convolution,
                   const kernels::ConvolutionBuffers &buffers, dl::CudaStream stream,
                   bool isCaptured);

private:
  // An engine prepared for a form. `plan` of a form without an engine is null.
  struct Plan {
    DnnObject plan;
    int64_t workspaceBytes = 0, proposal = 0, engine = 0;
  };
  Convolutions(const dl::Cudnn &dnn, gpu::Gpu &gpu) : dnn_(dnn), gpu_(gpu) {}

  Result<Plan> choose(const std::string &key, const kernels::Convolution &convolution,
                      const kernels::ConvolutionBuffers &buffers, int64_t alignment,
                      bool isCaptured);
  Result<Plan> makePlan(const DnnEngine &engine) const;
  // The first plans that can be made of the engines, at most `most`.
  std::vector<Plan> makePlans(const std::vector<DnnEngine> &engines, size_t most) const;
  Result<std::optional<size_t>> findFastest(const std::vector<Plan> &plans,
                                            const kernels::Convolution &convolution,
                                            const kernels::ConvolutionBuffers &buffers);
  Status put(const Plan &plan, const kernels::ConvolutionBuffers &buffers, char *workspace) const;

  const dl::Cudnn &dnn_;
  gpu::Gpu &gpu_;
  dl::DnnHandle handle_ = nullptr;
  KeptMemory workspace_, trialWorkspace_, trialResult_;
  std::shared_ptr<AlgorithmChoices> choices_;
  std::map<Form, Plan> plans_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_CONVOLVE_H
