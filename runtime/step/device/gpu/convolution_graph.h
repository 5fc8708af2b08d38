// convolution_graph.h - one convolution as cuDNN's graph interface describes it.
//
// cuDNN's dimensions are batch, features, then the spatial ones; strides say that features are
// innermost in memory.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_CONVOLUTION_GRAPH_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_CONVOLUTION_GRAPH_H

#include "runtime/dl/cudnn.h"
#include "runtime/kernels/convolution/convolution.h"

#include <utility>
#include <vector>

namespace coll::rt {

// Owns a descriptor of cuDNN.
class DnnObject {
public:
  DnnObject() = default;
  DnnObject(DnnObject &&other) noexcept { *this = std::move(other); }
  DnnObject &operator=(DnnObject &&other) noexcept {
    std::swap(dnn_, other.dnn_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~DnnObject();
  static Result<DnnObject> create(const dl::Cudnn &dnn, dl::DnnDescriptorType type);

  dl::DnnDescriptor get() const { return descriptor_; }
  Status set(dl::DnnAttribute attribute, dl::DnnAttributeType type, const void *values,
             int64_t count = 1) const;
  Status set(dl::DnnAttribute attribute, const std::vector<int64_t> &values) const;
  Status set(dl::DnnAttribute attribute, const DnnObject &object) const;
  // Returns how many values there are; `values` has room for `wanted`.
  Result<int64_t> get(dl::DnnAttribute attribute, dl::DnnAttributeType type, void *values,
                      int64_t wanted) const;
  Status finalize(const char *what) const;

private:
  const dl::Cudnn *dnn_ = nullptr;
  dl::DnnDescriptor descriptor_ = nullptr;
};

// A form of convolution that may run, with an engine that cuDNN's heuristics propose.
struct DnnEngine {
  DnnObject config;
  int64_t number = 0;   // of the engine
  int64_t proposal = 0; // its place among all proposals
};

struct ConvolutionGraph {
  // The tensors' names in a call of the plan: in the order x, y, w, without the result.
  static constexpr int64_t kA = 1, kB = 2, kResult = 3;

  // `alignment` of all addresses, in bytes.
  static Result<ConvolutionGraph> create(const dl::Cudnn &dnn, dl::DnnHandle handle,
                                         const kernels::Convolution &convolution,
                                         int64_t alignment);
  // The engines in the order of the heuristics; only those that sum in a fixed order and multiply
  // as the convolution allows. Empty if cuDNN has none.
  Result<std::vector<DnnEngine>> propose(const dl::Cudnn &dnn,
                                         const kernels::Convolution &convolution) const;

  DnnObject x, w, y, convolution, operation, graph;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_CONVOLUTION_GRAPH_H
