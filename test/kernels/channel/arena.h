// arena.h - memory for tests that run kernels: host memory if the kernels are emulated, or GPU
// memory.

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
  // Host memory that host and device see at the same address.
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

// Memory of GPU 0, whose context becomes current for the thread that opens the arena.
class GpuArena final : public Arena {
public:
  // Returns null, with the reason, if there is no GPU.
  static std::unique_ptr<GpuArena> open(std::string &whyNot);
  ~GpuArena() override;

  uint8_t *device(size_t bytes) override;
  uint8_t *pinned(size_t bytes) override;
  void copyIn(void *device, const void *from, size_t bytes) override;
  void copyOut(void *to, const void *device, size_t bytes) override;

  // The stream for kernels; copies do not wait for it.
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
