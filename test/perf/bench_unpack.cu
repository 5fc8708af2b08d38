// bench_unpack: unpack and pack beside CUDA's own copy, in one run on one GPU.
//
//   bench-unpack [--out=FILE]
//
// Appends a row for each case to FILE (JSON, one object a line) and prints a table. Pages
// cover 1 GiB and go to shuffled places; every copy is compared with its source on the GPU.
//   whole GPU  GB/s read + written; the target is a share of cudaMemcpy's in this run
//   one block  GB/s read + written of 512 threads, as a persistent kernel has them
//   host       GB/s over PCIe, the bounce buffer being pinned host memory; 1 to 8 blocks
// Times are medians between CUDA events.

#include "runtime/kernels/pages/pack.h"
#include "runtime/kernels/pages/unpack.h"
#include "test/kernels/must.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_runtime.h>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace coll::kernels {
namespace {

using kernels::test::must;

constexpr uint64_t kTotalBytes = uint64_t{1} << 30;
constexpr uint64_t kOneBlockBytes = uint64_t{64} << 20;
constexpr uint64_t kHostBytes = uint64_t{256} << 20;
// Room for a shifted target, and a guard that must not change.
constexpr uint64_t kMarginBytes = 256;

// Content that differs from word to word.
__global__ void fillWords(uint32_t *words, uint64_t count) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += uint64_t{gridDim.x} * blockDim.x)
    words[i] = static_cast<uint32_t>(i * 2654435761u) ^ static_cast<uint32_t>(i >> 7);
}

// Counts bytes of pages that differ, with one block per page.
__global__ void compare(const rt::PageDescriptor *pages, uint64_t count, const uint8_t *bounce,
                        const uint8_t *buffer, unsigned long long *different) {
  for (uint64_t i = blockIdx.x; i < count; i += gridDim.x)
    for (uint32_t k = threadIdx.x; k < pages[i].len; k += blockDim.x)
      if (bounce[pages[i].bounceOff + k] != buffer[pages[i].bufferOff + k])
        atomicAdd(different, 1ull);
}

struct Gpu {
  Gpu() {
    must(cudaStreamCreate(&stream), "stream");
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    must(cudaMalloc(&bounce, kTotalBytes + kMarginBytes), "bounce buffer");
    must(cudaMalloc(&buffer, kTotalBytes + 2 * kMarginBytes), "buffer");
    must(cudaMallocHost(&host, kHostBytes), "pinned memory");
    must(cudaMalloc(&pages, kTotalBytes / 1024 * sizeof(rt::PageDescriptor)), "descriptors");
    must(cudaMalloc(&error, sizeof(uint64_t)), "error word");
    must(cudaMalloc(&different, sizeof(uint64_t)), "counter");
    must(cudaMemset(error, 0, sizeof(uint64_t)), "memset");
    cudaDeviceProp properties{};
    must(cudaGetDeviceProperties(&properties, 0), "properties");
    name = properties.name;
  }

  // Median of seven, in seconds.
  double seconds(const std::function<void()> &work) {
    std::vector<float> times;
    for (int i = 0; i < 8; ++i) {
      must(cudaEventRecord(begin, stream), "event");
      work();
      must(cudaEventRecord(end, stream), "event");
      must(cudaEventSynchronize(end), "kernel");
      float milliseconds = 0;
      must(cudaEventElapsedTime(&milliseconds, begin, end), "time");
      if (i > 0) // the first one warms up
        times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] * 1e-3;
  }

  std::string name;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  uint8_t *bounce = nullptr, *buffer = nullptr, *host = nullptr;
  rt::PageDescriptor *pages = nullptr;
  uint64_t *error = nullptr;
  unsigned long long *different = nullptr;
};

struct Case {
  bool pack;
  uint32_t pageBytes;
  uint32_t shift; // of the buffer against 16-byte alignment
  std::string name() const {
    std::ostringstream out;
    out << (pack ? "pack " : "unpack ") << pageBytes / 1024 << " KiB";
    out << (shift ? " +" + std::to_string(shift) : std::string(" aligned"));
    return out.str();
  }
};

struct Row {
  std::string name, size, metric;
  double ours, peer;
  std::string peerName;
  double target; // 0: none; of the ratio where relative, else of ours
  bool relative;
};

class Bench {
public:
  explicit Bench(std::string out) : out_(std::move(out)) {
    fillWords<<<1024, 512, 0, gpu_.stream>>>(reinterpret_cast<uint32_t *>(gpu_.bounce),
                                             (kTotalBytes + kMarginBytes) / 4);
    must(cudaGetLastError(), "fill");
    must(cudaMemcpyAsync(gpu_.host, gpu_.bounce, kHostBytes, cudaMemcpyDefault, gpu_.stream),
         "fill");
    must(cudaStreamSynchronize(gpu_.stream), "fill");
  }

  void all() {
    struct Target {
      Case what;
      double whole, oneBlock;
    };
    const Target targets[] = {{{false, 4096, 0}, .90, 93}, {{false, 4096, 4}, .77, 80},
                              {{false, 4096, 1}, .77, 80}, {{false, 1024, 0}, .87, 80},
                              {{false, 1024, 4}, .64, 47}, {{false, 1024, 1}, .64, 47},
                              {{true, 4096, 0}, 0, 0},     {{true, 4096, 1}, 0, 0},
                              {{true, 1024, 0}, 0, 0},     {{true, 1024, 1}, 0, 0}};
    for (const Target &target : targets)
      onGpu(target.what, target.whole, target.oneBlock);
    for (const bool pack : {false, true})
      for (const uint32_t shift : {0u, 1u})
        for (const int blocks : {1, 2, 4, 8})
          overPcie({pack, 4096, shift}, blocks, !pack && blocks == 8 ? 45 : 0);
    must(cudaMemcpy(&error_, gpu_.error, sizeof error_, cudaMemcpyDefault), "error word");
    if (error_ != 0 || bad_ != 0) {
      std::fprintf(stderr, "bench-unpack: error word %llx, %llu bytes differ\n",
                   static_cast<unsigned long long>(error_), bad_);
      std::exit(1);
    }
  }

private:
  void makePages(const Case &what, uint64_t bytes) {
    const uint64_t count = bytes / what.pageBytes;
    std::vector<uint32_t> place(count);
    std::iota(place.begin(), place.end(), 0);
    std::shuffle(place.begin(), place.end(), std::mt19937_64(what.pageBytes + what.shift));
    std::vector<rt::PageDescriptor> pages(count);
    for (uint64_t i = 0; i < count; ++i)
      pages[i] = {static_cast<uint32_t>(i * what.pageBytes), what.pageBytes,
                  uint64_t{place[i]} * what.pageBytes + what.shift};
    must(cudaMemcpy(gpu_.pages, pages.data(), count * sizeof pages[0], cudaMemcpyDefault),
         "descriptors");
  }

  PageCopy copy(const Case &what, uint8_t *bounce, uint64_t bytes, int blocks) const {
    PageCopy out;
    out.pages = gpu_.pages;
    out.count = bytes / what.pageBytes;
    out.bounce = bounce;
    out.bounceBytes = bytes;
    out.buffer = gpu_.buffer;
    out.bufferBytes = bytes + what.shift;
    out.errorWord = gpu_.error;
    out.blocks = blocks;
    return out;
  }

  double run(const Case &what, const PageCopy &copy) {
    return gpu_.seconds(
        [&] { must(what.pack ? launchPack(copy, gpu_.stream) : launchUnpack(copy, gpu_.stream)); });
  }

  // The target is overwritten before, so that the result of another case is not mistaken for this
  // one's.
  void verify(const Case &what, const PageCopy &copy) {
    // Pack writes the side that holds the content; its buffer contains what unpack has written.
    if (!what.pack)
      must(cudaMemsetAsync(gpu_.buffer, 0xEE, copy.bufferBytes, gpu_.stream), "memset");
    else
      must(cudaMemsetAsync(copy.bounce, 0xEE, copy.bounceBytes, gpu_.stream), "memset");
    must(what.pack ? launchPack(copy, gpu_.stream) : launchUnpack(copy, gpu_.stream));
    must(cudaMemsetAsync(gpu_.different, 0, sizeof(uint64_t), gpu_.stream), "memset");
    compare<<<2048, 256, 0, gpu_.stream>>>(copy.pages, copy.count,
                                           static_cast<const uint8_t *>(copy.bounce), gpu_.buffer,
                                           gpu_.different);
    must(cudaGetLastError(), "compare");
    unsigned long long different = 0;
    must(cudaMemcpyAsync(&different, gpu_.different, sizeof different, cudaMemcpyDefault,
                         gpu_.stream),
         "compare");
    must(cudaStreamSynchronize(gpu_.stream), "compare");
    bad_ += different;
  }

  void onGpu(const Case &what, double whole, double oneBlock) {
    makePages(what, kTotalBytes);
    const PageCopy all = copy(what, gpu_.bounce, kTotalBytes, 0);
    verify(what, all);
    const double bytes = 2.0 * kTotalBytes;
    const double peer = bytes / gpu_.seconds([&] {
      must(cudaMemcpyAsync(gpu_.buffer, gpu_.bounce, kTotalBytes, cudaMemcpyDeviceToDevice,
                           gpu_.stream),
           "copy");
    });
    // The plain copy has overwritten the content of later passes, which may be any bytes.
    row({what.name(), "1 GiB, whole GPU", "GB/s read + written", bytes / run(what, all) / 1e9,
         peer / 1e9, "cudaMemcpyAsync device to device", whole, true});
    PageCopy one = all;
    one.count = kOneBlockBytes / what.pageBytes;
    one.blocks = 1;
    row({what.name(), "64 MiB, one block", "GB/s read + written",
         2.0 * kOneBlockBytes / run(what, one) / 1e9, peer / 1e9,
         "cudaMemcpyAsync device to device", oneBlock, false});
  }

  void overPcie(const Case &what, int blocks, double target) {
    makePages(what, kHostBytes);
    const PageCopy all = copy(what, gpu_.host, kHostBytes, blocks);
    verify(what, all);
    const double peer = kHostBytes / gpu_.seconds([&] {
      must(cudaMemcpyAsync(what.pack ? gpu_.host : gpu_.buffer, what.pack ? gpu_.buffer : gpu_.host,
                           kHostBytes, cudaMemcpyDefault, gpu_.stream),
           "copy");
    });
    row({what.name() + (what.pack ? " to host" : " from host"),
         "256 MiB, " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks"),
         "GB/s over PCIe", kHostBytes / run(what, all) / 1e9, peer / 1e9,
         what.pack ? "cudaMemcpyAsync to host" : "cudaMemcpyAsync from host", target, false});
  }

  void row(const Row &row) {
    const double ratio = row.ours / row.peer;
    const double reached = row.relative ? ratio : row.ours;
    const char *verdict = row.target == 0 ? "" : reached >= row.target ? "met" : "MISSED";
    std::printf("%-28s %-18s %8.1f  peer %8.1f  ratio %.3f  target %6.2f %s\n", row.name.c_str(),
                row.size.c_str(), row.ours, row.peer, ratio, row.target, verdict);
    std::fflush(stdout);
    if (out_.empty())
      return;
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    std::ofstream file(out_, std::ios::app);
    file.precision(5);
    file << "{\"machine\": \"" << gpu_.name << "\", \"date\": \"" << date
         << "\", \"command\": \"bench-unpack\", \"case\": \"" << row.name << "\", \"size\": \""
         << row.size << "\", \"metric\": \"" << row.metric << "\", \"ours\": " << row.ours
         << ", \"peer\": " << row.peer << ", \"peer_name\": \"" << row.peerName
         << "\", \"ratio\": " << ratio << ", \"target\": ";
    if (row.target == 0)
      file << "null";
    else
      file << row.target;
    file << ", \"target_of\": \"" << (row.relative ? "ratio" : "ours") << "\"}\n";
    if (!file) {
      std::fprintf(stderr, "bench-unpack: cannot write %s\n", out_.c_str());
      std::exit(1);
    }
  }

  Gpu gpu_;
  std::string out_;
  uint64_t error_ = 0;
  unsigned long long bad_ = 0;
};

} // namespace
} // namespace coll::kernels

int main(int argc, char **argv) {
  std::string out;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--out=", 0) != 0) {
      std::fprintf(stderr, "usage: bench-unpack [--out=FILE]\n");
      return 2;
    }
    out = word.substr(6);
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no GPU on this machine\n");
    return 77;
  }
  coll::kernels::Bench(out).all();
  return 0;
}
