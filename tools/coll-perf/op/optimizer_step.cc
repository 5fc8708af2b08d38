#include "tools/coll-perf/op/optimizer_step.h"

#include "runtime/backend/direct/root_update.h"
#include "runtime/base/dtype.h"

#include <cstring>

namespace coll::perf {

namespace {

using rt::direct::RootUpdate;
using rt::direct::RootUpdateOptions;
using rt::dl::GpuMemory;

RootUpdateOptions optionsOf(const OpPlan &plan, int64_t count, int ranks) {
  RootUpdateOptions options;
  options.plan = kernels::planShards(static_cast<uint64_t>(count), ranks).take();
  options.gradientElems = options.parameterElems = count;
  options.gradientType = options.parameterType = plan.dtype;
  options.optimizer = *kernels::optimizerNamed(plan.optimizer);
  return options;
}

// The update has a master copy of the parameters from `first` on.
Result<std::unique_ptr<RootUpdate>> makeUpdate(const OpPlan &plan, const rt::Communicator &group,
                                               int gpu, const RootUpdateOptions &options,
                                               int64_t first) {
  Result<std::unique_ptr<RootUpdate>> made = RootUpdate::create(group, gpu, options);
  if (!made)
    return made;
  if ((*made)->hasMaster()) {
    std::vector<float> parameters(static_cast<size_t>(options.parameterElems));
    Pattern::parameters(plan, first, parameters);
    COLL_RETURN_IF_ERROR((*made)->writeState(RootUpdate::kMaster, parameters.data(), nullptr));
  }
  COLL_RETURN_IF_ERROR((*made)->setStep(kFirstStep, nullptr));
  return made;
}

// Uses a single call of backend direct.
class FusedStep final : public OptimizerStep {
public:
  explicit FusedStep(rt::Communicator &group) : group_(group) {}

  Status open(const OpPlan &plan, int gpu, int64_t count) {
    Result<std::unique_ptr<RootUpdate>> made =
        makeUpdate(plan, group_, gpu, optionsOf(plan, count, plan.ranks), 0);
    if (!made)
      return made.status();
    update_ = made.take();
    return {};
  }
  Status run(const void *gradients, void *parameters, void *stream) override {
    rt::Call call = update_->call(gradients, parameters, stream);
    call.site.loc = "coll-perf";
    return group_.run(call);
  }

private:
  rt::Communicator &group_;
  std::unique_ptr<RootUpdate> update_;
};

// Does what a framework does: all_reduce, then the optimizer on all parameters. If `sharded`:
// reduce_scatter, the optimizer on a part, and all_gather.
class SeparateStep final : public OptimizerStep {
public:
  SeparateStep(const OpPlan &plan, rt::Communicator &group, bool sharded, int64_t count)
      : plan_(plan), group_(group), sharded_(sharded), count_(count),
        part_(sharded ? count / plan.ranks : count) {}

  Status open(rt::Endpoint &endpoint, int gpu) {
    if (sharded_ && count_ % plan_.ranks != 0)
      return {kCollUnsupported, "NCCL needs parts of equal size"};
    const int position = group_.position();
    Result<std::unique_ptr<rt::Communicator>> alone =
        endpoint.communicator({group_.ranks()[static_cast<size_t>(position)]});
    if (!alone)
      return alone.status();
    RootUpdateOptions options = optionsOf(plan_, part_, 1);
    options.mean = false; // NCCL computes the average
    first_ = sharded_ ? position * part_ : 0;
    Result<std::unique_ptr<RootUpdate>> made = makeUpdate(plan_, **alone, gpu, options, first_);
    if (!made)
      return made.status();
    update_ = made.take();
    return openLocal(gpu);
  }

  Status run(const void *gradients, void *parameters, void *stream) override {
    rt::Call call;
    call.kind = sharded_ ? rt::OpKind::ReduceScatter : rt::OpKind::AllReduce;
    call.dtype = plan_.dtype;
    call.reduction = kCollAvg;
    call.count = part_;
    call.src = gradients;
    call.dst = sums_.device();
    call.stream = stream;
    call.site.loc = "coll-perf";
    COLL_RETURN_IF_ERROR(group_.run(call));
    char *own = static_cast<char *>(parameters) + first_ * rt::dtypeSize(plan_.dtype);
    kernels::RootUpdate update = update_->arguments();
    update.gradients = sums_.device();
    update.parameters[0] = own;
    COLL_RETURN_IF_ERROR(kernels::launchRootUpdate(local_, update, update_->given(), stream));
    if (!sharded_)
      return {};
    call.kind = rt::OpKind::AllGather;
    call.src = own;
    call.dst = parameters;
    return group_.run(call);
  }

private:
  // A peer group of this GPU alone, and memory for the sums.
  Status openLocal(int gpu) {
    Result<const rt::dl::Cuda *> cuda = rt::dl::cuda();
    if (!cuda)
      return cuda.status();
    Result<std::shared_ptr<rt::dl::GpuContext>> context = rt::dl::GpuContext::open(**cuda, gpu);
    if (!context)
      return context.status();
    local_.layout = kernels::workspaceLayout(1, {64 << 10, 1, 64 << 10, 2});
    local_.timeoutNs = static_cast<uint64_t>(plan_.timeoutUs) * 1000;
    for (auto [memory, kind, bytes] :
         {std::tuple(&workspace_, GpuMemory::Kind::Device,
                     static_cast<int64_t>(local_.layout.bytes)),
          {&control_, GpuMemory::Kind::Pinned, sizeof(kernels::PeerControl)},
          {&sums_, GpuMemory::Kind::Device, part_ * rt::dtypeSize(plan_.dtype)}}) {
      Result<GpuMemory> made = GpuMemory::create(*context, kind, bytes);
      if (!made)
        return made.status();
      *memory = made.take();
    }
    std::memset(control_.host(), 0, sizeof(kernels::PeerControl));
    local_.workspace[0] = workspace_.device();
    local_.control = reinterpret_cast<kernels::PeerControl *>(control_.device());
    rt::dl::CudaScope scope(**cuda, (*context)->context());
    COLL_RETURN_IF_ERROR(kernels::initPeerWorkspace(local_, nullptr));
    return (*context)->check((*cuda)->contextSynchronize(), "cuCtxSynchronize");
  }

  const OpPlan &plan_;
  rt::Communicator &group_;
  const bool sharded_;
  const int64_t count_, part_;
  int64_t first_ = 0;
  std::unique_ptr<RootUpdate> update_;
  kernels::PeerGroup local_;
  GpuMemory workspace_, control_, sums_;
};

} // namespace

Result<std::unique_ptr<OptimizerStep>> OptimizerStep::create(const OpPlan &plan, const Side &side,
                                                             rt::Endpoint &endpoint,
                                                             rt::Communicator &group, int gpu,
                                                             int64_t count) {
  if (side.backend == "direct") {
    auto step = std::make_unique<FusedStep>(group);
    COLL_RETURN_IF_ERROR(step->open(plan, gpu, count));
    return std::unique_ptr<OptimizerStep>(std::move(step));
  }
  auto step = std::make_unique<SeparateStep>(plan, group, side.sharded, count);
  COLL_RETURN_IF_ERROR(step->open(endpoint, gpu));
  return std::unique_ptr<OptimizerStep>(std::move(step));
}

} // namespace coll::perf
