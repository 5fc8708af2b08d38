#include "runtime/backend/nccl/engine.h"

#include "runtime/backend/gpu/agreement.h"
#include "runtime/backend/nccl/types.h"

#include <algorithm>

namespace coll::rt::nccl {

namespace {

// Memory that is registered with NCCL: a user's buffer, or NCCL's own, symmetric on all members if
// the library has windows.
class NcclRegistration final : public Registration {
public:
  NcclRegistration(std::weak_ptr<const void> engine, gpu::Gpu &gpu, const dl::Nccl &nccl,
                   NcclLane &lane)
      : engine_(std::move(engine)), cuda_(gpu.cuda()), context_(gpu.context()), nccl_(nccl),
        lane_(lane) {}
  ~NcclRegistration() override {
    dl::CudaScope scope(cuda_, context_->context());
    if (!engine_.expired())
      forget();
    if (allocated_)
      (void)nccl_.memFree(data_);
  }

  void *data() const override { return data_; }
  std::string kind() const override {
    return window_ ? "symmetric window" : handle_ ? "user buffer" : "memory of NCCL";
  }

  Status allocate(int64_t bytes) {
    auto rounded = static_cast<size_t>(std::max<int64_t>(bytes, 1)) + dl::kNcclWindowAlignment - 1;
    bytes_ = rounded / dl::kNcclWindowAlignment * dl::kNcclWindowAlignment;
    COLL_RETURN_IF_ERROR(check(nccl_.memAlloc(&data_, bytes_), "ncclMemAlloc"));
    allocated_ = true;
    return {};
  }
  // Waits for the other members, so it runs on a separate thread.
  Status makeWindow(gpu::GpuEndpoint &endpoint, gpu::Group &group) {
    auto window = std::make_shared<dl::NcclWindow>(nullptr);
    lane_.runAside(
        [&nccl = nccl_, comm = lane_.comm(), data = data_, bytes = bytes_, window] {
          return nccl.windowRegister(comm, data, bytes, window.get(), dl::kNcclWindowSymmetric);
        },
        "ncclCommWindowRegister");
    COLL_RETURN_IF_ERROR(endpoint.settle(group));
    window_ = *window;
    return announce();
  }
  Status makeUserBuffer(gpu::GpuEndpoint &endpoint, gpu::Group &group) {
    COLL_RETURN_IF_ERROR(
        check(nccl_.commRegister(lane_.comm(), data_, bytes_, &handle_), "ncclCommRegister"));
    COLL_RETURN_IF_ERROR(endpoint.settle(group));
    return announce();
  }
  void setMemory(void *data, int64_t bytes) {
    data_ = data;
    bytes_ = static_cast<size_t>(bytes);
  }

private:
  // An aborted communicator has already deregistered everything.
  void forget() {
    if (isKnown_)
      lane_.memoryChanges(/*isKnown=*/false);
    dl::NcclComm comm = lane_.comm();
    if (comm && window_)
      (void)nccl_.windowDeregister(comm, window_);
    if (comm && handle_)
      (void)nccl_.commDeregister(comm, handle_);
  }
  Status check(dl::NcclResult result, const char *call) const {
    return dl::ncclStatus(nccl_, result, call, lane_.comm());
  }
  Status announce() {
    isKnown_ = true;
    lane_.memoryChanges(isKnown_);
    return {};
  }

  const std::weak_ptr<const void> engine_; // expires with the lane
  const dl::Cuda &cuda_;
  const std::shared_ptr<dl::GpuContext> context_;
  const dl::Nccl &nccl_;
  NcclLane &lane_;
  void *data_ = nullptr;
  size_t bytes_ = 0;
  bool allocated_ = false, isKnown_ = false;
  dl::NcclWindow window_ = nullptr;
  void *handle_ = nullptr;
};

// Whether all members have memory of one size.
Status agree(gpu::GpuEndpoint &endpoint, gpu::Group &group, const Status &mine, int64_t bytes) {
  Result<std::vector<gpu::MemoryCard>> cards =
      gpu::gather(endpoint, group, gpu::MemoryCard{gpu::verdictOf(mine), bytes});
  return cards ? gpu::compareMemory(*cards, group) : cards.status();
}

} // namespace

Status NcclEngine::supports(const Call &call) const { return nccl::supports(call, hasFp8_); }

std::unique_ptr<gpu::Lane> NcclEngine::makeLane(gpu::Gpu &gpu, std::vector<int> ranks,
                                                int position) {
  return std::make_unique<NcclLane>(gpu, nccl_, ends_, std::move(ranks), position);
}

Result<std::unique_ptr<Registration>> NcclEngine::registerMemory(gpu::GpuEndpoint &endpoint,
                                                                 gpu::Group &group, void *data,
                                                                 int64_t bytes) {
  gpu::Gpu &gpu = endpoint.gpu();
  gpu::Gpu::Scope scope(gpu);
  Status checked = gpu.check(data, "buffer");
  if (checked.ok() && bytes < 1)
    checked = Status::invalid("a buffer of " + std::to_string(bytes) + " bytes is not registered");
  COLL_RETURN_IF_ERROR(endpoint.prepare(group));
  COLL_RETURN_IF_ERROR(agree(endpoint, group, checked, bytes));
  auto made = std::make_unique<NcclRegistration>(life(), gpu, nccl_, laneOf(group));
  made->setMemory(data, bytes);
  COLL_RETURN_IF_ERROR(made->makeUserBuffer(endpoint, group));
  return std::unique_ptr<Registration>(std::move(made));
}

Result<std::unique_ptr<Registration>> NcclEngine::allocate(gpu::GpuEndpoint &endpoint,
                                                           gpu::Group &group, int64_t bytes) {
  gpu::Gpu &gpu = endpoint.gpu();
  gpu::Gpu::Scope scope(gpu);
  COLL_RETURN_IF_ERROR(endpoint.prepare(group));
  auto made = std::make_unique<NcclRegistration>(life(), gpu, nccl_, laneOf(group));
  // A member without memory does not join when NCCL creates the window, and NCCL would wait for it.
  const Status taken =
      bytes < 0 ? Status::invalid("a buffer cannot have " + std::to_string(bytes) + " bytes")
                : made->allocate(bytes);
  COLL_RETURN_IF_ERROR(agree(endpoint, group, taken, bytes));
  COLL_RETURN_IF_ERROR(nccl_.windowRegister ? made->makeWindow(endpoint, group)
                                            : made->makeUserBuffer(endpoint, group));
  return std::unique_ptr<Registration>(std::move(made));
}

} // namespace coll::rt::nccl
