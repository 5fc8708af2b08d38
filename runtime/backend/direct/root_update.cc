#include "runtime/backend/direct/root_update.h"

#include "runtime/base/dtype.h"
#include "runtime/base/fnv.h"
#include "runtime/kernels/root_update/tuning.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::direct {

namespace {

using kernels::UpdateSpan;
using kernels::UpdateStep;

constexpr uint64_t kStagingBytes = 1 << 20;

std::string nameOf(const RootUpdateOptions &options) {
  return options.own.launch ? options.own.name : kernels::optimizerName(options.optimizer);
}

const UpdateSpan *spansOf(const kernels::RootPlan &plan) {
  return plan.spans.empty() ? plan.table.shards : plan.spans.data();
}

uint64_t markOf(const RootUpdateOptions &options, int ranks) {
  uint64_t hash = kFnvStart;
  auto mix = [&](uint64_t value) { hash = fnvMixed(hash, value); };
  if (options.own.launch) {
    mix(options.own.mark);
    for (char letter : options.own.name)
      mix(static_cast<unsigned char>(letter));
  } else {
    mix(options.optimizer.index());
    mix(std::visit([](const auto &one) { return kernels::root_update::markOf(one); },
                   options.optimizer));
  }
  mix(static_cast<uint64_t>(options.gradientType));
  mix(static_cast<uint64_t>(options.parameterType));
  mix(options.mean);
  const kernels::RootTable &table = options.plan.table;
  for (int root = 0; root < ranks; ++root)
    for (uint32_t i = table.first[root]; i < table.first[root + 1]; ++i) {
      const UpdateSpan &span = spansOf(options.plan)[i];
      for (uint64_t value :
           {static_cast<uint64_t>(root), span.position, span.count, span.gradient, span.parameter})
        mix(value);
    }
  return hash;
}

Status refuse(const std::string &why) { return Status::invalid("root update: " + why); }

Status check(const RootUpdateOptions &options, int ranks) {
  for (CollDtype type : {options.gradientType, options.parameterType})
    if (type != kCollF32 && type != kCollBf16)
      return refuse(std::string("gradients and parameters are f32 or bf16, not ") +
                    dtypeName(type));
  if (options.gradientElems < 0 || options.parameterElems < 0)
    return refuse("a buffer has a negative number of elements");
  if (options.own.launch &&
      (options.own.numSlots < 0 || options.own.numSlots > kernels::kMaxOptimizerSlots))
    return refuse("an optimizer has up to " + std::to_string(kernels::kMaxOptimizerSlots) +
                  " slots, not " + std::to_string(options.own.numSlots));
  return kernels::checkPlan(options.plan, ranks, static_cast<uint64_t>(options.gradientElems),
                            static_cast<uint64_t>(options.parameterElems));
}

dl::CudaAddress addressOf(const void *memory) { return reinterpret_cast<dl::CudaAddress>(memory); }

} // namespace

RootUpdate::RootUpdate(std::shared_ptr<dl::GpuContext> gpu, const PeerKernels &kernels,
                       const Communicator &group, const RootUpdateOptions &options)
    : gpu_(std::move(gpu)), kernels_(kernels), position_(group.position()),
      size_(static_cast<int>(group.ranks().size())), options_(options), name_(nameOf(options)),
      mark_(markOf(options, size_)) {}

RootUpdate::~RootUpdate() {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  if (stream_)
    (void)gpu_->cuda().streamDestroy(stream_);
}

Result<std::unique_ptr<RootUpdate>> RootUpdate::create(const Communicator &group, int gpu,
                                                       const RootUpdateOptions &options) {
  COLL_RETURN_IF_ERROR(check(options, static_cast<int>(group.ranks().size())));
  const Result<Platform> found = platform();
  if (!found)
    return found.status();
  Result<std::shared_ptr<dl::GpuContext>> context = dl::GpuContext::open(*found->cuda, gpu);
  if (!context)
    return context.status();
  std::unique_ptr<RootUpdate> made(new RootUpdate(context.take(), found->kernels, group, options));
  COLL_RETURN_IF_ERROR(made->allocate().annotate("the state of a root update"));
  return made;
}

Status RootUpdate::allocate(dl::GpuMemory &memory, uint64_t bytes) {
  Result<dl::GpuMemory> made = dl::GpuMemory::create(
      gpu_, dl::GpuMemory::Kind::Device, static_cast<int64_t>(std::max<uint64_t>(bytes, 1)));
  if (!made)
    return made.status();
  memory = made.take();
  return gpu_->check(gpu_->cuda().memsetD8Async(addressOf(memory.device()), 0,
                                                static_cast<size_t>(memory.bytes()), stream_),
                     "cuMemsetD8Async");
}

Status RootUpdate::allocate() {
  const dl::Cuda &cuda = gpu_->cuda();
  dl::CudaScope scope(cuda, gpu_->context());
  COLL_RETURN_IF_ERROR(
      gpu_->check(cuda.streamCreate(&stream_, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  Result<dl::GpuMemory> staging =
      dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Pinned, kStagingBytes);
  if (!staging)
    return staging.status();
  staging_ = staging.take();
  const uint64_t stateBytes = options_.plan.stateElems(position_) * sizeof(float);
  arguments_.gradientType = options_.gradientType;
  arguments_.parameterType = options_.parameterType;
  arguments_.mean = options_.mean;
  arguments_.table = options_.plan.table;
  if (hasMaster()) {
    COLL_RETURN_IF_ERROR(allocate(master_, stateBytes));
    arguments_.master = reinterpret_cast<float *>(master_.device());
  }
  for (int k = 0; k < numSlots(); ++k) {
    COLL_RETURN_IF_ERROR(allocate(slots_[k], stateBytes));
    arguments_.slots[k] = reinterpret_cast<float *>(slots_[k].device());
  }
  COLL_RETURN_IF_ERROR(allocate(step_, sizeof(UpdateStep)));
  arguments_.step = reinterpret_cast<const UpdateStep *>(step_.device());
  if (const std::vector<UpdateSpan> &spans = options_.plan.spans; !spans.empty()) {
    const size_t bytes = spans.size() * sizeof(UpdateSpan);
    COLL_RETURN_IF_ERROR(allocate(spans_, bytes));
    COLL_RETURN_IF_ERROR(copyIn(spans_.device(), spans.data(), bytes, stream_));
    arguments_.table.spans = reinterpret_cast<const UpdateSpan *>(spans_.device());
  }
  return wait(stream_);
}

Call RootUpdate::call(const void *gradients, void *parameters, void *stream) const {
  Call call;
  call.kind = OpKind::RootUpdate;
  call.dtype = options_.gradientType;
  call.src = gradients;
  call.count = options_.gradientElems;
  call.dst = parameters;
  call.dstCount = options_.parameterElems;
  call.update = this;
  call.stream = stream;
  return call;
}

dl::CudaStream RootUpdate::streamOr(void *stream) const {
  return stream ? static_cast<dl::CudaStream>(stream) : stream_;
}

Status RootUpdate::wait(dl::CudaStream stream) const {
  return gpu_->check(gpu_->cuda().streamSynchronize(stream), "cuStreamSynchronize");
}

Status RootUpdate::setStep(const UpdateStep &step, void *stream) {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  COLL_RETURN_IF_ERROR(
      kernels_.setStep(reinterpret_cast<UpdateStep *>(step_.device()), step, streamOr(stream)));
  return stream ? Status() : wait(stream_);
}

//===-- state -------------------------------------------------------------------===//

int RootUpdate::numSlots() const {
  return options_.own.launch ? options_.own.numSlots : kernels::optimizerSlots(options_.optimizer);
}

Result<char *> RootUpdate::stateOf(int state) const {
  if (state == kMaster && hasMaster())
    return master_.device();
  if (state >= 0 && state < numSlots())
    return slots_[state].device();
  return refuse(state == kMaster
                    ? "parameters in f32 are their own master copy"
                    : name_ + " has " + std::to_string(numSlots()) +
                          " slots of state, and none is number " + std::to_string(state));
}

Status RootUpdate::copyIn(char *to, const void *from, uint64_t bytes, dl::CudaStream stream) const {
  for (uint64_t at = 0; at < bytes; at += kStagingBytes) {
    const uint64_t part = std::min(kStagingBytes, bytes - at);
    std::memcpy(staging_.host(), static_cast<const char *>(from) + at, part);
    COLL_RETURN_IF_ERROR(
        gpu_->check(gpu_->cuda().memcpyHtoDAsync(addressOf(to + at), staging_.host(), part, stream),
                    "cuMemcpyHtoDAsync"));
    COLL_RETURN_IF_ERROR(wait(stream));
  }
  return {};
}

Status RootUpdate::copyOut(void *to, const char *from, uint64_t bytes,
                           dl::CudaStream stream) const {
  for (uint64_t at = 0; at < bytes; at += kStagingBytes) {
    const uint64_t part = std::min(kStagingBytes, bytes - at);
    COLL_RETURN_IF_ERROR(gpu_->check(
        gpu_->cuda().memcpyDtoHAsync(staging_.host(), addressOf(from + at), part, stream),
        "cuMemcpyDtoHAsync"));
    COLL_RETURN_IF_ERROR(wait(stream));
    std::memcpy(static_cast<char *>(to) + at, staging_.host(), part);
  }
  return {};
}

template <typename Move>
Status RootUpdate::eachSpan(int state, Move &&move) const {
  const Result<char *> memory = stateOf(state);
  if (!memory)
    return memory.status();
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  const kernels::RootTable &table = options_.plan.table;
  for (uint32_t i = table.first[position_]; i < table.first[position_ + 1]; ++i) {
    const UpdateSpan &span = spansOf(options_.plan)[i];
    COLL_RETURN_IF_ERROR(
        move(*memory + span.state * sizeof(float), span.parameter, span.count * sizeof(float)));
  }
  return {};
}

Status RootUpdate::writeState(int state, const float *values, void *stream) {
  return eachSpan(state, [&](char *memory, uint64_t first, uint64_t bytes) {
    return copyIn(memory, values + first, bytes, streamOr(stream));
  });
}

Status RootUpdate::readState(int state, float *values, void *stream) const {
  return eachSpan(state, [&](const char *memory, uint64_t first, uint64_t bytes) {
    return copyOut(values + first, memory, bytes, streamOr(stream));
  });
}

//===-- for the backend ---------------------------------------------------------===//

Status RootUpdate::takes(const Call &call, int size, int position, int gpu) const {
  if (size != size_ || position != position_)
    return refuse("it was made for member " + std::to_string(position_) + " of " +
                  std::to_string(size_) + ", and this is " + std::to_string(position) + " of " +
                  std::to_string(size));
  if (gpu != gpu_->ordinal())
    return refuse("its state is on GPU " + std::to_string(gpu_->ordinal()) +
                  ", and the rank is on GPU " + std::to_string(gpu));
  if (call.outer != 1 || call.count != options_.gradientElems ||
      call.dstCount != options_.parameterElems || call.dtype != options_.gradientType)
    return refuse("it was made for " + std::to_string(options_.gradientElems) + " gradients in " +
                  dtypeName(options_.gradientType) + " and " +
                  std::to_string(options_.parameterElems) + " parameters");
  return {};
}

} // namespace coll::rt::direct
