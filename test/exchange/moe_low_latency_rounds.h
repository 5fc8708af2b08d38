// moe_low_latency_rounds.h - rounds of a MoeBuffer's low-latency mode, compared with the reference.

#ifndef COLL_TEST_EXCHANGE_MOE_LOW_LATENCY_ROUNDS_H
#define COLL_TEST_EXCHANGE_MOE_LOW_LATENCY_ROUNDS_H

#include "runtime/exchange/moe/low_latency_reference.h"
#include "test/exchange/moe_rig.h"

#include <functional>
#include <random>

namespace coll::rt::test {

// A small shape with three experts per rank.
MoeLowLatencyShape lowLatencyShape(int numRanks);

// The memory of a round's calls of one rank, on its GPU.
struct LowLatencyMemory {
  MoeLowLatencyDispatch dispatch;
  MoeLowLatencyRows rows;
  MoeLowLatencyCombine combine;
};

template <typename T>
T *roomLike(MoeRank &rank, const std::vector<T> &values) {
  auto *data = rank.room<T>(values.size() + 4);
  // Aligned as rows are.
  return reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(data) + 15) / 16 * 16);
}
template <typename T>
T *putRows(MoeRank &rank, const std::vector<T> &values) {
  T *data = roomLike(rank, values);
  std::copy(values.begin(), values.end(), data);
  return data;
}

LowLatencyMemory lowLatencyMemory(MoeRank &rank, const MoeRankCase &from,
                                  const MoeLowLatencyShape &shape, int numRanks, CollDtype dtype,
                                  bool log);

// A round of all ranks: the input and the expected output.
struct LowLatencyWorld {
  std::vector<MoeRankCase> cases;
  std::vector<std::vector<char>> experts; // rows that ranks give back
  std::vector<MoeLowLatencyHostRows> rows;
  std::vector<std::vector<uint16_t>> out;
};

LowLatencyWorld lowLatencyWorld(const MoeLowLatencyShape &shape, int numRanks, CollDtype dtype,
                                bool log, std::minstd_rand &random);

void expectRows(const MoeLowLatencyRows &got, const MoeLowLatencyHostRows &expected);

inline void must(const Status &status) { ASSERT_TRUE(status.ok()) << status.toString(); }

// Enqueues a call, or its two phases.
void lowLatencyDispatch(MoeRank &rank, const LowLatencyMemory &memory, bool hooked);
void lowLatencyCombine(MoeRank &rank, const LowLatencyMemory &memory, bool hooked);

// Calls on a stream of a GPU, captured to be replayed.
class MoeGraph {
public:
  MoeGraph(dl::FakeCuda &fake, int gpu, dl::CudaStream stream, const std::function<void()> &calls);
  ~MoeGraph();
  void launch() const;
  void finish() const; // and all else on the stream

private:
  dl::FakeCuda &fake_;
  const int gpu_;
  const dl::CudaStream stream_;
  dl::CudaGraph graph_ = nullptr;
  dl::CudaGraphExec exec_ = nullptr;
};

// Two batches of one rank at the same time, the first in bf16, the second in fp8.
class TwoBatches {
public:
  // Arguments for rank `number`; `worlds` must outlive them.
  TwoBatches(const LowLatencyWorld (&worlds)[2], const MoeLowLatencyShape &shape, int numRanks,
             size_t number, MoeRank &rank);

  void dispatch();
  void receive(size_t batch) { must(buffer().lowLatencyReceive(hooks[batch], rank_.order)); }
  // Called when both were received: combines both, waits, and compares.
  void finish();

  LowLatencyMemory memory[2];
  MoeHook hooks[2];

private:
  MoeBuffer &buffer() { return *rank_.buffer; }

  const LowLatencyWorld (&worlds_)[2];
  const size_t number_;
  MoeRank &rank_;
};

// Makes random rounds in all formats, with synced ranks that have this shape.
void playLowLatencyRounds(MoeRanks &all, const MoeLowLatencyShape &shape, uint32_t rounds,
                          std::minstd_rand &random);
inline void playLowLatencyRounds(MoeRanks &all, uint32_t rounds, std::minstd_rand &random) {
  playLowLatencyRounds(all, lowLatencyShape(static_cast<int>(all.size())), rounds, random);
}

} // namespace coll::rt::test

#endif // COLL_TEST_EXCHANGE_MOE_LOW_LATENCY_ROUNDS_H
