#include "tools/coll-info/topology.h"

#include "plan/topology.h"
#include "runtime/backend/backend.h"
#include "runtime/base/env.h"
#include "runtime/base/machine.h"
#include "runtime/base/thread.h"
#include "runtime/step/abi/gemm.h"
#include "runtime/step/affinity.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace coll::info {

namespace {

constexpr int64_t kSide = 256;                          // of square matrices
constexpr int64_t kLargeElems = 2 << 20;                // of f32: larger than the caches of cores
constexpr int64_t kPieceElems = plan::kCachedBytes / 4; // as a kernel of a small step has them
constexpr int64_t kSumElems = 256 << 10;                // of gradients that caches of cores hold
// Ranks do not come to a call of a step together: the work before it, here the copy of a piece,
// differs by an eighth in measured steps (test/perf, strategies.jsonl).
constexpr int64_t kUneven = kPieceElems / 16;
constexpr int64_t kSmallSide = 8, kMatrices = 256; // of a batch of products
constexpr int64_t kRowElems = 1, kRows = 8 << 10;  // that are looked up in a piece
constexpr int64_t kScatter = 40503; // odd: all rows are looked up, each far from the one before
constexpr int kMostRanks = 8;
// A tenth of the batches of turns are faster than what counts: slower ones have other programs'
// work in them, and in the fastest no rank waits for another.
constexpr int kBatches = 60, kTurns = 20;
constexpr size_t kPairs = 400; // of calls behind work

// Microseconds until the slowest of ranks that work at once is done.
struct Times {
  double product = 0, copy = 0;      // of matrices, and of large tensors
  double smallCall = 0;              // all_gather of an element a rank
  double write = 0, writeAndSum = 0; // a tensor that a rank writes, and its all_reduce behind that
  double piece = 0;                  // a short copy
  double callBehindWork = 0;         // as smallCall, for ranks that do not come together; a mean
  double kernel = 0, matrices = 0;   // one small product, and a batch of them
  double rows = 0;                   // copies of rows that do not follow one another
};

// One rank of those that measure together.
class Rank {
public:
  Rank(rt::Communicator &group, int rank, int64_t ranks)
      : group_(group), rank_(rank), ranks_(ranks), source_(kLargeElems, 1), target_(source_) {}

  rt::Status run(Times &times) {
    auto copy = [&](int64_t elems) {
      std::copy(source_.begin(), source_.begin() + elems, target_.begin());
      return rt::Status();
    };
    COLL_RETURN_IF_ERROR(time(times.product, 1, [&] { return multiply(); }));
    COLL_RETURN_IF_ERROR(time(times.copy, 1, [&] { return copy(kLargeElems); }));
    COLL_RETURN_IF_ERROR(time(times.smallCall, kTurns, [&] { return gather(1); }));
    COLL_RETURN_IF_ERROR(time(times.write, 1, [&] { return write(); }));
    COLL_RETURN_IF_ERROR(time(times.writeAndSum, 1, [&]() -> rt::Status {
      COLL_RETURN_IF_ERROR(write()); // as a step does, so that the others have to fetch it
      return sum();
    }));
    COLL_RETURN_IF_ERROR(time(times.piece, kTurns, [&] { return copy(kPieceElems); }));
    COLL_RETURN_IF_ERROR(time(times.kernel, kTurns, [&] { return multiplySmall(1); }));
    COLL_RETURN_IF_ERROR(time(times.matrices, 1, [&] { return multiplySmall(kMatrices); }));
    COLL_RETURN_IF_ERROR(time(times.rows, 1, [&] { return copyRows(); }));
    return timeBehindWork(times.callBehindWork);
  }

private:
  rt::Status gather(int64_t elems) { return gather(source_.data(), target_.data(), elems); }

  rt::Status gather(const float *from, float *to, int64_t elems) {
    rt::Call call;
    call.kind = rt::OpKind::AllGather;
    call.src = from;
    call.dst = to;
    call.count = elems;
    return group_.run(call);
  }

  rt::Status write() {
    for (int64_t i = 0; i < kSumElems; ++i)
      source_[static_cast<size_t>(i)] += 1;
    return {};
  }

  rt::Status sum() {
    rt::Call call;
    call.kind = rt::OpKind::AllReduce;
    call.src = source_.data();
    call.dst = target_.data();
    call.count = kSumElems;
    return group_.run(call);
  }

  rt::Status multiply() {
    rt::Gemm gemm;
    gemm.m = gemm.n = gemm.k = kSide;
    gemm.lda = gemm.ldb = gemm.ldc = kSide;
    gemm.a = source_.data();
    gemm.b = source_.data() + kSide * kSide;
    gemm.c = target_.data();
    return rt::runGemm(gemm);
  }

  rt::Status multiplySmall(int64_t matrices) {
    rt::Gemm gemm;
    gemm.transB = true;
    gemm.m = gemm.n = gemm.k = gemm.lda = gemm.ldb = gemm.ldc = kSmallSide;
    gemm.strideA = gemm.strideB = gemm.strideC = kSmallSide * kSmallSide;
    gemm.batch = matrices;
    gemm.a = source_.data();
    gemm.b = source_.data() + kLargeElems / 2;
    gemm.c = target_.data();
    return rt::runGemm(gemm);
  }

  rt::Status copyRows() {
    constexpr int64_t kTableRows = kPieceElems / kRowElems;
    for (int64_t i = 0; i < kRows; ++i)
      std::copy_n(source_.begin() + i * kScatter % kTableRows * kRowElems, kRowElems,
                  target_.begin() + i * kRowElems);
    return {};
  }

  // The first batch is not counted. A rank that began late did not work beside the others; the one
  // that waited longest has the time of the batch.
  template <typename Turn>
  rt::Status time(double &us, int turns, Turn turn) {
    std::array<double, kBatches> times;
    for (int batch = 0; batch <= kBatches; ++batch) {
      COLL_RETURN_IF_ERROR(gather(1));
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < turns; ++i)
        COLL_RETURN_IF_ERROR(turn());
      COLL_RETURN_IF_ERROR(gather(1));
      const std::chrono::duration<float, std::micro> took =
          std::chrono::steady_clock::now() - start;
      const float mine = std::max(took.count(), 0.001F);
      COLL_RETURN_IF_ERROR(gather(&mine, target_.data(), 1));
      const float longest = *std::max_element(target_.begin(), target_.begin() + ranks_);
      if (batch > 0)
        times[static_cast<size_t>(batch - 1)] = longest / static_cast<float>(turns);
    }
    std::nth_element(times.begin(), times.begin() + kBatches / 10, times.end());
    us = times[kBatches / 10];
    return {};
  }

  // The mean over the ranks of what a call takes: of the median pair, in which each rank is late
  // once.
  rt::Status timeBehindWork(double &us) {
    std::array<float, kPairs> times{};
    for (size_t turn = 0; turn < 2 * kPairs; ++turn) {
      const bool isLonger = (static_cast<size_t>(rank_) + turn) % 2 == 0;
      const int64_t elems = kPieceElems + (isLonger ? kUneven : -kUneven);
      std::copy(source_.begin(), source_.begin() + elems, target_.begin());
      const auto start = std::chrono::steady_clock::now();
      COLL_RETURN_IF_ERROR(gather(1));
      const std::chrono::duration<float, std::micro> took =
          std::chrono::steady_clock::now() - start;
      times[turn / 2] += took.count() / 2;
    }
    std::nth_element(times.begin(), times.begin() + kPairs / 2, times.end());
    const float mine = times[kPairs / 2];
    COLL_RETURN_IF_ERROR(gather(&mine, target_.data(), 1));
    us = std::accumulate(target_.begin(), target_.begin() + ranks_, 0.0) / double(ranks_);
    return {};
  }

  rt::Communicator &group_;
  int rank_;
  int64_t ranks_;
  std::vector<float> source_, target_;
};

// Two digits are more than a second measurement repeats.
double rounded(double value) {
  const double scale = std::pow(10, 1 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

rt::Status measureRank(rt::Endpoint &endpoint, const rt::Affinity &affinity, int rank, int ranks,
                       Times &times) {
  COLL_RETURN_IF_ERROR(affinity.pinThisThread(rank));
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  rt::Result<std::unique_ptr<rt::Communicator>> group = endpoint.communicator(all);
  if (!group)
    return group.status();
  return Rank(**group, rank, ranks).run(times);
}

// Measures ranks of backend `threads`, placed as COLL_AFFINITY says. Returns the times of rank 0.
rt::Result<Times> measureRanks(int ranks) {
  rt::BackendOptions options;
  options.numRanks = ranks;
  rt::Result<std::unique_ptr<rt::Backend>> backend = rt::createBackend("threads", options);
  if (!backend)
    return backend.status();
  rt::Result<rt::Affinity> affinity = rt::Affinity::create(rt::envString(rt::EnvVar::Affinity));
  if (!affinity)
    return affinity.status();
  std::vector<std::unique_ptr<rt::Endpoint>> endpoints;
  for (int rank = 0; rank < ranks; ++rank) {
    rt::Result<std::unique_ptr<rt::Endpoint>> endpoint = (*backend)->endpoint(rank);
    if (!endpoint)
      return endpoint.status();
    endpoints.push_back(endpoint.take());
  }
  for (auto &endpoint : endpoints)
    endpoint->enter();
  std::vector<Times> times(endpoints.size());
  std::vector<rt::Status> ended(endpoints.size());
  auto runRank = [&](size_t rank) {
    ended[rank] =
        measureRank(*endpoints[rank], *affinity, static_cast<int>(rank), ranks, times[rank]);
  };
  std::vector<std::thread> threads(endpoints.size());
  rt::Status started;
  for (size_t rank = 1; rank < threads.size() && started.ok(); ++rank)
    started = rt::startThread(threads[rank], "a rank", [&, rank] { runRank(rank); });
  if (started.ok())
    runRank(0);
  else
    endpoints[0]->abort(started); // those that run wait for the others
  for (std::thread &thread : threads)
    if (thread.joinable())
      thread.join();
  for (auto &endpoint : endpoints)
    endpoint->leave();
  COLL_RETURN_IF_ERROR(started);
  for (const rt::Status &status : ended)
    COLL_RETURN_IF_ERROR(status);
  return times[0];
}

// What a rank computes while the others do so, too.
void describeHost(const Times &times, plan::Topology::Host &host) {
  host.gflopPerS = rounded(2.0 * kSide * kSide * kSide / times.product * 1e-3);
  host.memoryGbPerS = rounded(2.0 * 4.0 * kLargeElems / times.copy * 1e-3);
  host.cacheGbPerS = rounded(2.0 * plan::kCachedBytes / times.piece * 1e-3);
  const double flops = 2.0 * kSmallSide * kSmallSide * kSmallSide;
  const double matrix = times.matrices / kMatrices - flops / host.gflopPerS * 1e-3;
  host.matrixUs = rounded(std::max(matrix, 0.001));
  host.kernelUs = rounded(std::max(times.kernel - times.matrices / kMatrices, 0.001));
  host.rowUs = rounded(times.rows / kRows);
}

// Rounds and bytes are those of calls one behind the other; what a call between work takes more is
// the wait for the slowest rank.
void describeLink(const Times &times, int ranks, plan::Topology::Link &link) {
  const double rounds = std::ceil(std::log2(ranks));
  const double bytes = 2.0 * 4.0 * kSumElems * (ranks - 1) / ranks;
  const double sum = times.writeAndSum - times.write - 2 * times.smallCall;
  link.gbPerS = rounded(bytes / std::max(sum, 0.001) * 1e-3);
  link.latencyUs = rounded(std::max(times.smallCall / rounds, 0.001));
  link.callUs = rounded(std::max(times.callBehindWork - times.smallCall, 0.001));
}

} // namespace

int printTopology(int64_t ranks) {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  const int64_t measured = ranks > 0 ? ranks : rt::numAllowedProcessors();
  const int together = static_cast<int>(std::clamp<int64_t>(measured, 2, kMostRanks));
  rt::prepareGemm();
  rt::reserveGemm(together);
  const rt::Result<Times> times = measureRanks(together);
  if (!times) {
    std::fprintf(stderr, "coll-info: %s\n", times.status().toString().c_str());
    return 1;
  }
  plan::Topology topology;
  plan::Topology::Host &host = topology.hosts.emplace_back();
  host.name = name;
  host.ranks = ranks > 0 ? ranks : std::max<int64_t>(1, std::thread::hardware_concurrency());
  describeHost(*times, host);
  plan::Topology::Link &link = topology.links.emplace_back();
  link.from = link.to = name;
  describeLink(*times, together, link);
  std::printf("%s", plan::toJson(topology).c_str());
  return 0;
}

} // namespace coll::info
