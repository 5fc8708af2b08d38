// host_device.h - a program on host memory: each call is complete when it returns.

#ifndef COLL_RUNTIME_STEP_DEVICE_HOST_DEVICE_H
#define COLL_RUNTIME_STEP_DEVICE_HOST_DEVICE_H

#include "runtime/base/aligned_buffer.h"
#include "runtime/step/device/device.h"

namespace coll::rt {

class HostDevice final : public Device {
public:
  // `constants` outlives the device; null: none.
  explicit HostDevice(const void *constants) : constants_(constants) {}

  bool isHost() const override { return true; }
  Result<std::vector<char *>> allocate(const std::vector<BufferNeed> &needs,
                                       Communicator *) override;
  Status upload(void *dst, int64_t bytes, const InputWriter &write) override;
  Status download(char *hostDst, const void *src, int64_t bytes) override;
  Status synchronize() override { return {}; }
  Status execute(const Execution &execution) override { return execution.run(); }
  Result<std::unique_ptr<CallEnd>> prepare(Call &, const CallExtents &, bool) override {
    return std::unique_ptr<CallEnd>();
  }

  Status launch(const CallSite &site, int32_t kernel, const void *const *args,
                int32_t numArgs) override;
  Status copy(const CallSite &site, void *dst, const void *src, int64_t bytes) override;
  Status fill(const CallSite &site, void *dst, const void *pattern, int32_t patternBytes,
              int64_t count) override;
  Status fetch(const CallSite &site, void *hostDst, const void *src, int64_t bytes) override;
  Status store(const CallSite &site, void *dst, const void *hostSrc, int64_t bytes) override;
  Status contract(const CallSite &site, const CollContraction &contraction, const void *a,
                  const void *b, void *out) override;
  Status attend(const CallSite &site, const kernels::Attention &attention,
                const kernels::AttentionBuffers &buffers, bool isBackward) override;
  Status convolve(const CallSite &site, const kernels::Convolution &convolution,
                  const kernels::ConvolutionBuffers &buffers) override;
  Status dispatch(const TokenDispatch &dispatch, int32_t serial, const TokenPlace &place) override;
  Status combine(const TokenCombine &combine, const TokenPlace &place) override;
  Result<void *> constants() override { return const_cast<void *>(constants_); }

private:
  const void *constants_;
  std::vector<AlignedBuffer> buffers_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_HOST_DEVICE_H
