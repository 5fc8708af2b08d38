// arena.h - memory of tests that run kernels: the processor's where these are emulated, or a GPU's.

#ifndef COLL_TEST_KERNELS_ARENA_H
#define COLL_TEST_KERNELS_ARENA_H

#include "runtime/base/status.h"
#include "runtime/dl/cuda.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace coll::kernels::test {

// Allocations are zeroed and live as long as the arena.
class Arena {
public:
  virtual ~Arena() = default;
  virtual uint8_t *device(size_t bytes) = 0;
  // Host memory at the same address for both.
  virtual uint8_t *pinned(size_t bytes) = 0;
  virtual void copyIn(void *device, const void *from, size_t bytes) = 0;
  virtual void copyOut(void *to, const void *device, size_t bytes) = 0;
};

class HostArena final : public Arena {
public:
  uint8_t *device(size_t bytes) override { return pinned(bytes); }
  uint8_t *pinned(size_t bytes) override;
  void copyIn(void *device, const void *from, size_t bytes) override;
  void copyOut(void *to, const void *device, size_t bytes) override;

private:
  std::vector<std::unique_ptr<uint8_t, void (*)(void *)>> memory_;
};

// GPU 0's. Made current for the thread that opens it.
class GpuArena final : public Arena {
public:
  // Null, with the reason, where there is no GPU.
  static std::unique_ptr<GpuArena> open(std::string &whyNot);
  ~GpuArena() override;

  uint8_t *device(size_t bytes) override;
  uint8_t *pinned(size_t bytes) override;
  void copyIn(void *device, const void *from, size_t bytes) override;
  void copyOut(void *to, const void *device, size_t bytes) override;

  // For kernels; copies do not wait for it.
  rt::dl::CudaStream stream() const { return stream_; }
  void finish(); // waits for the stream

private:
  explicit GpuArena(const rt::dl::Cuda &cuda) : cuda_(cuda) {}
  rt::Status start();
  void check(rt::dl::CudaResult result, const char *call);

  const rt::dl::Cuda &cuda_;
  rt::dl::CudaStream stream_ = nullptr, copies_ = nullptr;
  std::vector<rt::dl::CudaAddress> device_;
  std::vector<void *> pinned_;
};

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_ARENA_H
