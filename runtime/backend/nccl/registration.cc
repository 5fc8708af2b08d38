// Memory that NCCL knows: a user's buffer, or one of its own, symmetric on all members where
// the library has windows.

#include "runtime/backend/nccl/endpoint.h"

#include <algorithm>

namespace coll::rt::nccl {

namespace {

class NcclRegistration final : public Registration {
public:
  NcclRegistration(Gpu &gpu, Lane &lane) : gpu_(gpu), lane_(lane) {}
  // A killed communicator has forgotten it all.
  ~NcclRegistration() override {
    Gpu::Scope scope(gpu_);
    dl::NcclComm comm = lane_.comm();
    if (comm && window_)
      (void)gpu_.nccl().windowDeregister(comm, window_);
    if (comm && handle_)
      (void)gpu_.nccl().commDeregister(comm, handle_);
    if (allocated_)
      (void)gpu_.nccl().memFree(data_);
  }

  void *data() const override { return data_; }
  std::string kind() const override {
    return window_ ? "symmetric window" : handle_ ? "user buffer" : "memory of NCCL";
  }

  Status allocate(int64_t bytes) {
    auto rounded = static_cast<size_t>(std::max<int64_t>(bytes, 1)) + dl::kNcclWindowAlignment - 1;
    bytes_ = rounded / dl::kNcclWindowAlignment * dl::kNcclWindowAlignment;
    COLL_RETURN_IF_ERROR(check(gpu_.nccl().memAlloc(&data_, bytes_), "ncclMemAlloc"));
    allocated_ = true;
    return {};
  }
  Status makeWindow() {
    return check(
        gpu_.nccl().windowRegister(lane_.comm(), data_, bytes_, &window_, dl::kNcclWindowSymmetric),
        "ncclCommWindowRegister");
  }
  Status makeUserBuffer() {
    return check(gpu_.nccl().commRegister(lane_.comm(), data_, bytes_, &handle_),
                 "ncclCommRegister");
  }
  void setMemory(void *data, int64_t bytes) {
    data_ = data;
    bytes_ = static_cast<size_t>(bytes);
  }

private:
  Status check(dl::NcclResult result, const char *call) const {
    return dl::ncclStatus(gpu_.nccl(), result, call, lane_.comm());
  }

  Gpu &gpu_;
  Lane &lane_;
  void *data_ = nullptr;
  size_t bytes_ = 0;
  bool allocated_ = false;
  dl::NcclWindow window_ = nullptr;
  void *handle_ = nullptr;
};

} // namespace

Result<std::unique_ptr<Registration>> NcclCommunicator::registerMemory(void *data, int64_t bytes) {
  Gpu &gpu = endpoint_.gpu();
  Gpu::Scope scope(gpu);
  COLL_RETURN_IF_ERROR(gpu.check(data, "buffer"));
  if (bytes < 1)
    return Status::invalid("a buffer of " + std::to_string(bytes) + " bytes is not registered");
  COLL_RETURN_IF_ERROR(endpoint_.prepare(group_));
  auto made = std::make_unique<NcclRegistration>(gpu, group_.lane);
  made->setMemory(data, bytes);
  COLL_RETURN_IF_ERROR(made->makeUserBuffer());
  COLL_RETURN_IF_ERROR(endpoint_.settle(group_));
  return std::unique_ptr<Registration>(std::move(made));
}

Result<std::unique_ptr<Registration>> NcclCommunicator::allocate(int64_t bytes) {
  if (bytes < 0)
    return Status::invalid("no buffer has " + std::to_string(bytes) + " bytes");
  Gpu &gpu = endpoint_.gpu();
  Gpu::Scope scope(gpu);
  COLL_RETURN_IF_ERROR(endpoint_.prepare(group_));
  auto made = std::make_unique<NcclRegistration>(gpu, group_.lane);
  COLL_RETURN_IF_ERROR(made->allocate(bytes));
  COLL_RETURN_IF_ERROR(gpu.nccl().windowRegister ? made->makeWindow() : made->makeUserBuffer());
  COLL_RETURN_IF_ERROR(endpoint_.settle(group_));
  return std::unique_ptr<Registration>(std::move(made));
}

} // namespace coll::rt::nccl
