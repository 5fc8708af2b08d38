// parallel.h - distributes work over several host threads, so that GPUs do not wait for tests.

#ifndef COLL_TEST_KERNELS_PARALLEL_H
#define COLL_TEST_KERNELS_PARALLEL_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace coll::kernels::test {

// Calls work(i) for i < count, in any order, on so many threads; with one thread the caller does
// it, in order.
template <typename Work>
void forEach(size_t count, uint32_t threads, Work &&work) {
  std::atomic<size_t> next{0};
  const auto some = [&] {
    for (size_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::thread> others;
  for (uint32_t t = 1; t < threads && t < count; ++t)
    others.emplace_back(some);
  some();
  for (std::thread &other : others)
    other.join();
}

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_PARALLEL_H
