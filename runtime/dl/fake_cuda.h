// fake_cuda.h - a CUDA driver for tests: host memory plays GPU memory.
//
//   FakeCuda fake(2);                   // two GPUs
//   fake.failNext("memHostRegister", kCudaOutOfMemory);
//   … code under test with fake.table() …
//   EXPECT_EQ(fake.liveAllocations(), 0);
//
// Copies happen when their stream is waited for or their event is asked, so that code
// that reads too early sees the old bytes. One FakeCuda at a time in a process, since
// the driver's functions carry no state; its functions may be called from any thread.

#ifndef COLL_RUNTIME_DL_FAKE_CUDA_H
#define COLL_RUNTIME_DL_FAKE_CUDA_H

#include "runtime/dl/cuda.h"

#include <memory>

namespace coll::rt::dl {

class FakeCuda {
public:
  explicit FakeCuda(int numDevices = 1);
  ~FakeCuda();
  FakeCuda(const FakeCuda &) = delete;
  FakeCuda &operator=(const FakeCuda &) = delete;

  const Cuda &table() const;

  // GPU `ordinal`'s memory, current on the calling thread as CUDA would have it.
  void *allocate(uint64_t bytes, int ordinal = 0);
  void free(void *data);
  void setCurrent(int ordinal);

  // The next call of the function with this member name of Cuda fails, after `skip`
  // calls that do not.
  void failNext(const std::string &function, CudaResult result, int skip = 0);
  // Copies end only after so many queries of their event.
  void delayCopies(int queries);
  int64_t calls(const std::string &function) const;

  // What was made and not freed: allocations, registrations, streams, events.
  int64_t liveAllocations() const;
  // Calls that a driver would not forgive: unknown pointers, ranges out of bounds, no
  // current context. Empty where all was well.
  std::string misuse() const;

private:
  struct State;
  std::unique_ptr<State> state_;
  friend struct FakeCudaFunctions;
};

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_FAKE_CUDA_H
