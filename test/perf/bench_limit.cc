// bench-limit - the limit of this machine for an all_reduce (f32, sum) of 2 ranks.
//
//   bench-limit BYTES…
//
// Two threads on two processors make only the transfers that the operation needs: no call, no
// check, no ring. Up to 2 KiB, each writes its data and a flag, and reads the other's: two
// cache-to-cache transfers. Above, between two exchanges of flags, each sums one half into both
// destinations, with streaming stores where bench-backend's runtime uses them. Prints bytes and
// median microseconds, like bench-backend.

#include "runtime/base/machine.h"
#include "runtime/base/reduce.h"
#include "runtime/base/stream_copy.h"
#include "runtime/step/affinity.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

using namespace coll::rt;

namespace {

constexpr int64_t kInlineBytes = 2048;
constexpr int64_t kPieceElems = 2048;

struct alignas(64) Cell {
  std::atomic<uint64_t> flag{0};
  float data[kInlineBytes / sizeof(float)];
};

struct Side {
  Cell cells[2]; // written in turn
  std::vector<float> src, dst;
};

struct Machine {
  Side sides[2];
  uint64_t round[2] = {0, 0};

  // Each thread waits for the other's data.
  Cell &exchange(int me, int64_t bytes) {
    uint64_t number = ++round[me];
    Cell &mine = sides[me].cells[number % 2], &other = sides[1 - me].cells[number % 2];
    std::memcpy(mine.data, sides[me].src.data(), static_cast<size_t>(bytes));
    mine.flag.store(number, std::memory_order_release);
    while (other.flag.load(std::memory_order_acquire) != number) {
    }
    return other;
  }

  void allReduce(int me, int64_t bytes) {
    int64_t elems = bytes / static_cast<int64_t>(sizeof(float));
    if (bytes <= kInlineBytes) {
      const float *theirs = exchange(me, bytes).data, *mine = sides[me].src.data();
      float *dst = sides[me].dst.data();
      for (int64_t i = 0; i < elems; ++i)
        dst[i] = mine[i] + theirs[i];
      return;
    }
    exchange(me, 0);
    half(me * elems / 2, (me + 1) * elems / 2, 4 * bytes > cacheBytes());
    exchange(me, 0);
  }

  void half(int64_t begin, int64_t end, bool streams) {
    alignas(64) float sum[kPieceElems];
    for (int64_t i = begin; i < end; i += kPieceElems) {
      int64_t n = std::min(kPieceElems, end - i);
      const void *srcs[2] = {&sides[0].src[static_cast<size_t>(i)],
                             &sides[1].src[static_cast<size_t>(i)]};
      reduceBuffers(kCollF32, kCollSum, srcs, 2, sum, n);
      for (Side &side : sides)
        if (streams)
          streamCopy(&side.dst[static_cast<size_t>(i)], sum, n * 4);
        else
          std::memcpy(&side.dst[static_cast<size_t>(i)], sum, static_cast<size_t>(n) * 4);
    }
    endStream();
  }
};

double nowMicroseconds() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void measure(Machine &machine, int me, int64_t bytes) {
  machine.sides[me].src.assign(static_cast<size_t>(bytes) / 4, 1.0f);
  machine.sides[me].dst.assign(static_cast<size_t>(bytes) / 4, 0.0f);
  machine.exchange(me, 0);
  int samples = bytes <= 16 << 10 ? 500 : bytes <= 1 << 20 ? 200 : 20;
  int batch = bytes <= 16 << 10 ? 16 : 1;
  std::vector<double> times;
  for (int i = -samples / 10 - 1; i < samples; ++i) {
    double begin = nowMicroseconds();
    for (int j = 0; j < batch; ++j)
      machine.allReduce(me, bytes);
    if (i >= 0)
      times.push_back((nowMicroseconds() - begin) / batch);
  }
  std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
  if (me == 0)
    std::printf("%lld %.3f\n", static_cast<long long>(bytes), times[times.size() / 2]);
  machine.exchange(me, 0); // before any buffer goes
}

} // namespace

int main(int argc, char **argv) {
  Result<Affinity> affinity = Affinity::create("compact");
  const bool isAnyWrong =
      std::any_of(argv + 1, argv + argc, [](const char *word) { return std::atoll(word) < 4; });
  if (argc < 2 || isAnyWrong || !affinity || affinity->processorOf(0) == affinity->processorOf(1)) {
    std::fprintf(stderr, "usage: bench-limit BYTES…, on a machine with two processors\n");
    return 2;
  }
  auto machine = std::make_unique<Machine>();
  auto run = [&](int me) {
    if (!affinity->pinThisThread(me).ok())
      std::exit(1);
    for (int i = 1; i < argc; ++i)
      measure(*machine, me, std::atoll(argv[i]));
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  return 0;
}
