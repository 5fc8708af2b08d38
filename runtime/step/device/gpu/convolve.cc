#include "runtime/step/device/gpu/convolve.h"

#include "runtime/base/dtype.h"
#include "runtime/base/log.h"
#include "runtime/step/device/gpu/choices.h"
#include "runtime/step/device/gpu/timing.h"

#include <algorithm>
#include <limits>

namespace coll::rt {

namespace {

constexpr int64_t kMostWorkspace = int64_t{512} << 20;
constexpr size_t kCandidates = 6;
constexpr int kTimedRuns = 3;
constexpr int64_t kMostAlignment = 16;

int64_t alignmentOf(const kernels::ConvolutionBuffers &buffers) {
  int64_t alignment = kMostAlignment;
  for (const void *data : {buffers.a, buffers.b, static_cast<const void *>(buffers.result)})
    while (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(alignment) != 0)
      alignment /= 2;
  return alignment;
}

Convolutions::Form formOf(const kernels::Convolution &c, int64_t alignment) {
  Convolutions::Form form{c.dtype,    c.tf32,    static_cast<int64_t>(c.kind),
                          alignment,  c.batch,   c.groups,
                          c.channels, c.features};
  size_t at = 8;
  for (const auto &sizes : {c.in, c.window, c.out, c.stride, c.dilation, c.pad})
    for (int64_t size : sizes)
      form[at++] = size;
  return form;
}

// The form's name in the file of choices.
std::string nameOf(const Convolutions::Form &form) {
  std::string name;
  for (int64_t part : form)
    name += (name.empty() ? "" : ",") + std::to_string(part);
  return name;
}

} // namespace

Result<std::unique_ptr<Convolutions>> Convolutions::create(const dl::Cudnn &dnn, gpu::Gpu &gpu) {
  std::unique_ptr<Convolutions> made(new Convolutions(dnn, gpu));
  COLL_RETURN_IF_ERROR(dl::dnnStatus(dnn, dnn.create(&made->handle_), "cudnnCreate"));
  char name[256] = "GPU";
  (void)gpu.cuda().deviceGetName(name, sizeof(name), gpu.ordinal());
  made->choices_ = AlgorithmChoices::of("convolution", name, dnn.getVersion());
  return made;
}

Convolutions::~Convolutions() {
  gpu::Gpu::Scope scope(gpu_);
  plans_.clear();
  if (handle_)
    (void)dnn_.destroy(handle_);
}

Result<Convolutions::Plan> Convolutions::makePlan(const DnnEngine &engine) const {
  Result<DnnObject> made = DnnObject::create(dnn_, dl::kDnnExecutionPlan);
  if (!made)
    return made.status();
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnPlanHandle, dl::kDnnTypeHandle, &handle_));
  COLL_RETURN_IF_ERROR(made->set(dl::kDnnPlanConfig, engine.config));
  COLL_RETURN_IF_ERROR(made->finalize("a plan"));
  Plan plan;
  Result<int64_t> count =
      made->get(dl::kDnnPlanWorkspace, dl::kDnnTypeInt64, &plan.workspaceBytes, 1);
  if (!count)
    return count.status();
  plan.plan = made.take();
  plan.proposal = engine.proposal;
  plan.engine = engine.number;
  return plan;
}

std::vector<Convolutions::Plan> Convolutions::makePlans(const std::vector<DnnEngine> &engines,
                                                        size_t most) const {
  std::vector<Plan> plans;
  for (const DnnEngine &engine : engines) {
    Result<Plan> plan = makePlan(engine); // fails for some of the proposed engines
    if (plan && plan->workspaceBytes <= kMostWorkspace)
      plans.push_back(plan.take());
    if (plans.size() == most)
      break;
  }
  return plans;
}

Status Convolutions::put(const Plan &plan, const kernels::ConvolutionBuffers &buffers,
                         char *workspace) const {
  Result<DnnObject> pack = DnnObject::create(dnn_, dl::kDnnVariantPack);
  if (!pack)
    return pack.status();
  const void *data[] = {buffers.a, buffers.b, buffers.result};
  COLL_RETURN_IF_ERROR(pack->set(dl::kDnnPackUniqueIds, {ConvolutionGraph::kA, ConvolutionGraph::kB,
                                                         ConvolutionGraph::kResult}));
  COLL_RETURN_IF_ERROR(pack->set(dl::kDnnPackPointers, dl::kDnnTypePointer, data, std::size(data)));
  COLL_RETURN_IF_ERROR(pack->set(dl::kDnnPackWorkspace, dl::kDnnTypePointer, &workspace));
  COLL_RETURN_IF_ERROR(pack->finalize("a call"));
  return dl::dnnStatus(dnn_, dnn_.execute(handle_, plan.plan.get(), pack->get()),
                       "cudnnBackendExecute");
}

// The plans run into separate memory, on a separate stream: work before them on the step's stream
// may wait for another rank whose thread is also here.
Result<std::optional<size_t>>
Convolutions::findFastest(const std::vector<Plan> &plans, const kernels::Convolution &c,
                          const kernels::ConvolutionBuffers &buffers) {
  int64_t most = 1;
  for (const Plan &plan : plans)
    most = std::max(most, plan.workspaceBytes);
  Result<char *> workspace = trialWorkspace_.reserve(gpu_, most);
  if (!workspace)
    return workspace.status();
  Result<char *> result = trialResult_.reserve(gpu_, c.numResults() * dtypeSize(c.dtype));
  if (!result)
    return result.status();
  Result<dl::CudaStream> stream = gpu_.makeStream();
  if (!stream)
    return stream.status();
  const kernels::ConvolutionBuffers apart{buffers.a, buffers.b, *result};
  std::optional<size_t> best; // null if none can run
  float least = std::numeric_limits<float>::infinity();
  Status status = dl::dnnStatus(dnn_, dnn_.setStream(handle_, *stream), "cudnnSetStream");
  for (size_t i = 0; i < plans.size() && status.ok(); ++i) {
    Result<float> taken =
        timeOnStream(gpu_, *stream, kTimedRuns, [&] { return put(plans[i], apart, *workspace); });
    if (!taken && taken.status().code() != kCollUnsupported)
      status = taken.status();
    if (taken && *taken < least) {
      least = *taken;
      best = i;
    }
  }
  gpu_.endStream(*stream);
  if (!status.ok())
    return status;
  return best;
}

Result<Convolutions::Plan> Convolutions::choose(const std::string &key,
                                                const kernels::Convolution &c,
                                                const kernels::ConvolutionBuffers &buffers,
                                                int64_t alignment, bool isCaptured) {
  Result<ConvolutionGraph> graph = ConvolutionGraph::create(dnn_, handle_, c, alignment);
  if (!graph && graph.status().code() != kCollDevice)
    return Plan(); // a form that the library does not describe
  if (!graph)
    return graph.status();
  Result<std::vector<DnnEngine>> engines = graph->propose(dnn_, c);
  if (!engines && engines.status().code() != kCollDevice)
    return Plan();
  if (!engines)
    return engines.status();
  if (std::optional<dl::LtAlgorithm> known = choices_->find(key)) {
    for (const DnnEngine &engine : *engines)
      if (static_cast<uint64_t>(engine.proposal) == known->data[0] &&
          static_cast<uint64_t>(engine.number) == known->data[1])
        if (Result<Plan> plan = makePlan(engine); plan && plan->workspaceBytes <= kMostWorkspace)
          return plan;
    log(LogLevel::Warn, "the cached engine of " + describe(c) + " is not valid here");
  }
  std::vector<Plan> plans = makePlans(*engines, isCaptured ? 1 : kCandidates);
  if (plans.empty())
    return Plan();
  if (isCaptured || plans.size() == 1)
    return std::move(plans.front());
  Result<std::optional<size_t>> fastest = findFastest(plans, c, buffers);
  if (!fastest) { // perhaps there is no memory to try them, or to run one that needs much
    log(LogLevel::Info, describe(c) + " takes the engine of cuDNN that needs the least memory: " +
                            fastest.status().message());
    return std::move(
        *std::min_element(plans.begin(), plans.end(), [](const Plan &a, const Plan &b) {
          return a.workspaceBytes < b.workspaceBytes;
        }));
  }
  if (!*fastest)
    return Plan();
  const Plan &first = plans[**fastest];
  dl::LtAlgorithm choice;
  choice.data[0] = static_cast<uint64_t>(first.proposal);
  choice.data[1] = static_cast<uint64_t>(first.engine);
  // Another process may have chosen in the meantime.
  const dl::LtAlgorithm kept = choices_->add(key, choice);
  for (Plan &plan : plans)
    if (static_cast<uint64_t>(plan.proposal) == kept.data[0])
      return std::move(plan);
  return std::move(plans[**fastest]);
}

Result<bool> Convolutions::run(const kernels::Convolution &c,
                               const kernels::ConvolutionBuffers &buffers, dl::CudaStream stream,
                               bool isCaptured) {
  const int64_t alignment = alignmentOf(buffers);
  const Form form = formOf(c, alignment);
  auto known = plans_.find(form);
  if (known == plans_.end()) {
    Result<Plan> chosen = choose(nameOf(form), c, buffers, alignment, isCaptured);
    if (!chosen)
      return chosen.status();
    if (!chosen->plan.get())
      log(LogLevel::Warn, "cuDNN has no engine for " + describe(c) + ": it runs on a slow kernel");
    known = plans_.emplace(form, chosen.take()).first;
  }
  const Plan &plan = known->second;
  if (!plan.plan.get())
    return false;
  Result<char *> workspace = workspace_.reserve(gpu_, plan.workspaceBytes);
  if (!workspace)
    return workspace.status().annotate("the workspace of convolutions, " +
                                       std::to_string(plan.workspaceBytes) + " bytes");
  COLL_RETURN_IF_ERROR(dl::dnnStatus(dnn_, dnn_.setStream(handle_, stream), "cudnnSetStream"));
  COLL_RETURN_IF_ERROR(put(plan, buffers, *workspace));
  return true;
}

} // namespace coll::rt
