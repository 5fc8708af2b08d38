// cuda.h - a CUDA driver for tests: host memory simulates GPU memory.
//
//   FakeCuda fake(2);                   // two GPUs
//   fake.failNext("memHostRegister", kCudaOutOfMemory);
//   … code under test with fake.table() …
//   EXPECT_EQ(fake.liveAllocations(), 0);
//
// Copies are made when their stream is waited for or their event is queried, so that code that
// reads too early sees the old bytes. Other streams make progress if that one waits for their work,
// and memory is freed when the streams of its GPU are empty. Only one FakeCuda at a time in a
// process, because the driver's functions carry no state; any thread may call them. A graph holds
// the work of the captured stream and of the streams that events have joined to it; it cannot wait
// for work outside of the capture. Kernels are functions of the test.

#ifndef COLL_TEST_SUPPORT_FAKES_CUDA_H
#define COLL_TEST_SUPPORT_FAKES_CUDA_H

#include "runtime/dl/cuda.h"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace coll::rt::dl {

// A kernel's launch: the values of its parameters, as they were then.
struct FakeLaunch {
  unsigned grid[3] = {}, block[3] = {};
  unsigned sharedBytes = 0;
  std::vector<std::vector<char>> parameters;

  template <typename T>
  T parameter(size_t index) const {
    T value;
    std::memcpy(&value, parameters[index].data(), sizeof(value));
    return value;
  }
};

class FakeCuda {
public:
  explicit FakeCuda(int numDevices = 1);
  ~FakeCuda();
  FakeCuda(const FakeCuda &) = delete;
  FakeCuda &operator=(const FakeCuda &) = delete;

  const Cuda &table() const;

  // Images that begin with ".version" hold this kernel from now on; others are rejected with a
  // compiler's log. `run` plays all its threads; its parameters have these sizes.
  void defineKernel(const std::string &name, std::vector<size_t> parameterBytes,
                    std::function<void(const FakeLaunch &)> run);

  // Allocates memory of GPU `ordinal`; its context becomes current on the calling thread, as CUDA
  // requires.
  void *allocate(uint64_t bytes, int ordinal = 0);
  void free(void *data);
  void setCurrent(int ordinal);

  // The next `times` calls of the function with this member name of Cuda fail, after `skip` calls
  // that succeed.
  void failNext(const std::string &function, CudaResult result, int skip = 0, int times = 1);
  // Copies end only after so many queries of their event.
  void delayCopies(int queries);
  // Like the driver unless CUDA_MODULE_LOADING=EAGER.
  void loadLazily(bool lazily);
  int64_t calls(const std::string &function) const;

  // For fakes of libraries that put work on streams. `begin` is called under the driver's lock when
  // all earlier work of the stream is done. It returns a function that says whether the work is
  // done, which is called under the lock until it is. Captured work begins at each replay.
  using Question = std::function<bool()>;
  static CudaResult enqueue(CudaStream stream, std::function<Question()> begin);
  // GPU that is current on this thread; -1: none. Its memory.
  static int currentGpu();
  static void *allocateCurrent(uint64_t bytes);
  static void freeCurrent(void *data);
  // The GPU whose memory holds these bytes; -1: none. Call it under the driver's lock.
  static int gpuOf(const void *data, uint64_t bytes);
  // Runs `change` under the driver's lock.
  static void locked(const std::function<void()> &change);

  // What was made and not freed: allocations, registrations, streams, events.
  int64_t liveAllocations() const;
  // Calls that are errors with a real driver: unknown pointers, ranges out of bounds, no current
  // context. Empty if there were none.
  std::string misuse() const;

private:
  struct State;
  std::unique_ptr<State> state_;
  friend struct FakeCudaBase;
  friend struct FakeCudaFunctions;
};

} // namespace coll::rt::dl

#endif // COLL_TEST_SUPPORT_FAKES_CUDA_H
