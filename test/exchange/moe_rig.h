// moe_rig.h - ranks of a MoeBuffer over a fake driver, with the kernels' device code on host
// threads.

#ifndef COLL_TEST_EXCHANGE_MOE_RIG_H
#define COLL_TEST_EXCHANGE_MOE_RIG_H

#include "runtime/exchange/moe/buffer.h"
#include "test/exchange/moe_cases.h"
#include "test/exchange/moe_emulated.h"
#include "test/support/fakes/cuda.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace coll::rt::test {

// A rank: its buffer, and GPU memory for its calls.
class MoeRank {
public:
  MoeRank(dl::FakeCuda &fake, const MoeBufferOptions &options);
  ~MoeRank();

  template <typename T>
  T *room(size_t count) {
    memory_.push_back(fake_.allocate(count * sizeof(T) + 64, gpu_));
    return static_cast<T *>(memory_.back());
  }
  // The GPU memory of the fake driver is host memory.
  template <typename T>
  T *put(const std::vector<T> &values) {
    T *data = room<T>(values.size());
    std::copy(values.begin(), values.end(), data);
    return data;
  }
  // Waits until the work on the rank's stream is done.
  void wait();
  // Waits for everything that calls, including failed ones, have put on the communication stream.
  // Afterwards the others' buffers may be destroyed.
  void end();

  std::unique_ptr<MoeBuffer> buffer;
  MoeOrder order;

private:
  dl::FakeCuda &fake_;
  const int gpu_;
  std::vector<void *> memory_;
};
using MoeRanks = std::vector<std::unique_ptr<MoeRank>>;

// Runs `body(number, rank)` for each rank, each in its own thread.
template <typename Body>
void beside(MoeRanks &all, Body &&body) {
  std::vector<std::thread> threads;
  for (size_t r = 0; r < all.size(); ++r)
    threads.emplace_back([&, r] { body(r, *all[r]); });
  for (std::thread &thread : threads)
    thread.join();
}
// Exchanges the cards of all ranks and syncs.
void syncAll(MoeRanks &all);
// Creates ranks with the options that optionsOf(rank) returns, synced.
template <typename OptionsOf>
MoeRanks syncedRanks(dl::FakeCuda &fake, int numRanks, OptionsOf &&optionsOf) {
  MoeRanks all;
  for (int r = 0; r < numRanks; ++r)
    all.push_back(std::make_unique<MoeRank>(fake, optionsOf(r)));
  syncAll(all);
  return all;
}

// The inputs of a rank's calls, in its GPU's memory.
struct MoeInputs {
  MoeRouting routing;
  MoeTokens tokens;
  MoeLayout layout;
  void *handle = nullptr;
  uint16_t *out = nullptr;
  float *outWeights = nullptr;
};
MoeInputs inputsOf(MoeRank &rank, const MoeRankCase &from, int numRanks, const MoeConfig &config);

template <typename T>
void expectBytes(const char *what, const T *got, const std::vector<T> &expected) {
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got)) << what;
}

} // namespace coll::rt::test

#endif // COLL_TEST_EXCHANGE_MOE_RIG_H
