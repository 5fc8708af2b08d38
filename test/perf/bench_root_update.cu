// bench-root-update: an Adam step on N ranks, communication included, fused and not.
//
//   bench-root-update [--ranks=N] [--counts=M,…] [--types=f32,bf16] [--blocks=N,…]
//                     [--threads=N] [--chunk=ELEMS] [--slots=N,KIB] [--peers=no] [--out=FILE]
//
// Ranks: as many as GPUs by default. Where ranks share GPUs, or there is no NCCL, rows show what
// the kernel costs beside the optimizer alone, without communication. Counts are in Mi
// parameters (1,16,128). Several numbers of blocks print a table without rows. Slots: how many
// a ring has, and how large they are.
//
// A row is the time of a step in a CUDA graph of many, on the slowest rank: beside NCCL's
// all_reduce and a fused optimizer kernel, and beside its reduce_scatter, the optimizer on a
// part, and its all_gather, in the same run. The first step's parameters are compared on every
// rank: ours with the reference bit by bit, the peers' to rounding.

#include "runtime/kernels/root_update/tuning.h"
#include "test/perf/bench_root_update.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

namespace coll::bench {
namespace {

struct Options {
  int ranks = 0;
  std::vector<uint64_t> counts = {1, 16, 128};
  std::vector<uint32_t> blocks = {0};
  uint32_t threads = 0, chunk = 0;
  bool f32 = true, bf16 = true, peers = true;
  std::vector<uint32_t> slots; // how many, KiB
  std::string out;
};

class Bench {
public:
  Bench(Team &team, const Options &options, int devices)
      : team_(team), options_(options), group_(team.makeGroup(20ull * 1000 * 1000 * 1000)),
        nccl_(options.peers ? makeNcclPeer(team, whyNot_) : nullptr) {
    cudaDeviceProp properties{};
    must(cudaGetDeviceProperties(&properties, 0), "properties");
    machine_ = std::to_string(devices) + " x " + properties.name;
    if (!nccl_)
      std::printf("without NCCL: %s\n", whyNot_.c_str());
  }
  ~Bench() { team_.freeGroup(group_); }

  void all() {
    for (uint64_t millions : options_.counts)
      for (bool narrow : {false, true}) {
        if (!(narrow ? options_.bf16 : options_.f32))
          continue;
        count_ = millions << 20;
        narrow_ = narrow;
        team_.allocate(count_, narrow ? 2 : 4);
        measure();
        team_.free();
      }
  }

  unsigned long long bad() const { return bad_; }

private:
  void measure() {
    const int repeats = count_ <= 1 << 20 ? 100 : count_ <= 16 << 20 ? 20 : 5;
    std::vector<double> ours;
    for (uint32_t blocks : options_.blocks) {
      blocks_ = blocks;
      check("ours", [this] { step(); }, 0);
      ours.push_back(team_.microseconds(repeats, [this] { step(); }));
      checkErrors();
    }
    if (ours.size() > 1) {
      std::printf("%4llu Mi %s:", millions(), typeName());
      for (size_t i = 0; i < ours.size(); ++i)
        std::printf("  %u blocks %.1f us", options_.blocks[i], ours[i]);
      std::printf("\n");
      return;
    }
    if (!nccl_) {
      row(ours[0], team_.microseconds(repeats, [this] { optimizerAlone(); }),
          "the optimizer alone, without communication");
      return;
    }
    peer(ours[0], repeats, " all_reduce + fused Adam",
         [this] { nccl_->allReduceStep(count_, narrow_); });
    if (count_ % static_cast<uint64_t>(team_.size()) != 0)
      return; // NCCL's shares are equal
    peer(ours[0], repeats, " reduce_scatter + Adam on a part + all_gather",
         [this] { nccl_->shardedStep(count_, narrow_); });
  }

  void peer(double ours, int repeats, const char *name, const std::function<void()> &step) {
    // Its sums may have another order, and are rounded in bf16.
    check(name, step, narrow_ ? 0.02f : 1e-5f);
    row(ours, team_.microseconds(repeats, step), nccl_->name() + name);
  }

  // One fused step on every rank.
  void step() {
    const kernels::RootTable table = kernels::planShards(count_, team_.size())->table;
    team_.each([&](int r) {
      const Member &m = team_[r];
      RootUpdate call;
      call.gradientType = call.parameterType = narrow_ ? kCollBf16 : kCollF32;
      call.gradients = m.gradients;
      for (int peer = 0; peer < team_.size(); ++peer)
        call.parameters[peer] = team_[peer].parameters;
      // The state is placed like that of the whole buffer, so that all variants start from the
      // same.
      const uint64_t first = table.shards[r].parameter;
      call.master = narrow_ ? m.master + first : nullptr;
      for (int k = 0; k < Adam::kSlots; ++k)
        call.slots[k] = m.slots[k] + first;
      call.step = m.step;
      call.table = table;
      call.mean = true;
      call.blocks = blocks_ ? blocks_ : defaultBlocks();
      call.threads = options_.threads;
      call.chunkElems = options_.chunk;
      must(launchRootUpdate(group_[static_cast<size_t>(r)], call, Adam{}, m.stream));
    });
  }

  // The optimizer alone, every rank on its part: a limit.
  void optimizerAlone() {
    const uint64_t share = count_ / static_cast<uint64_t>(team_.size()) / 4 * 4;
    team_.each([&](int r) {
      launchAdam(team_, r, team_[r].gradients, share * static_cast<uint64_t>(r), share, narrow_);
    });
  }

  // Ranks that share a GPU have to be on it at the same time.
  uint32_t defaultBlocks() const {
    return team_.sharesGpus() ? 128u / static_cast<uint32_t>(team_.size()) : 0u;
  }

  void check(const char *name, const std::function<void()> &step, float tolerance) {
    team_.each([&](int r) { fill(team_, r, count_, narrow_); });
    team_.wait();
    step();
    team_.wait();
    team_.each([&](int r) {
      if (const auto found = different(team_, r, count_, narrow_, tolerance); found != 0) {
        std::printf("WRONG: %s, %llu Mi %s: %llu parameters of rank %d\n", name, millions(),
                    typeName(), found, r);
        bad_ += found;
      }
    });
  }

  void checkErrors() {
    for (const PeerGroup &member : group_)
      if (member.control->error != 0) {
        std::fprintf(stderr, "bench-root-update: rank %u: error word %llx\n", member.rank,
                     static_cast<unsigned long long>(member.control->error));
        std::exit(1);
      }
  }

  unsigned long long millions() const { return count_ >> 20; }
  const char *typeName() const { return narrow_ ? "bf16" : "f32"; }

  // The target for f32 on four GPUs.
  double target() const {
    if (narrow_ || team_.size() != 4 || team_.sharesGpus())
      return 0;
    return millions() == 1 ? 24 : millions() == 16 ? 295 : millions() == 128 ? 2300 : 0;
  }

  void row(double ours, double peer, const std::string &peerName) {
    std::printf("%4llu Mi %-4s on %d ranks  %9.1f us  peer %9.1f  ratio %6.2f  %s\n", millions(),
                typeName(), team_.size(), ours, peer, peer / ours, peerName.c_str());
    std::fflush(stdout);
    if (options_.out.empty())
      return;
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    const auto orNull = [](double value) {
      std::ostringstream text;
      text.precision(5);
      text << value;
      return value == 0 ? "null" : text.str();
    };
    std::ofstream file(options_.out, std::ios::app);
    file << "{\"machine\": \"" << machine_ << "\", \"date\": \"" << date
         << "\", \"command\": \"bench-root-update --ranks=" << team_.size()
         << "\", \"case\": \"root_update adam " << typeName() << ", " << team_.size() << " ranks"
         << "\", \"size\": \"" << millions()
         << " Mi parameters\", \"metric\": \"us\", \"ours\": " << orNull(ours)
         << ", \"peer\": " << orNull(peer)
         << ", \"peer_name\": " << (peer == 0 ? "null" : '"' + peerName + '"')
         << ", \"ratio\": " << orNull(peer / ours) << ", \"target\": " << orNull(target()) << "}\n";
    if (!file) {
      std::fprintf(stderr, "bench-root-update: cannot write %s\n", options_.out.c_str());
      std::exit(1);
    }
  }

  Team &team_;
  const Options &options_;
  std::vector<PeerGroup> group_;
  std::string whyNot_, machine_;
  std::unique_ptr<NcclPeer> nccl_;
  uint64_t count_ = 0;
  bool narrow_ = false;
  uint32_t blocks_ = 0;
  unsigned long long bad_ = 0;
};

// Parses "1,16" as numbers from 1 to `most`; empty if it is wrong.
template <typename T>
std::vector<T> numbers(const std::string &text, T most) {
  std::vector<T> result;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) {
    char *end = nullptr;
    const unsigned long long value = std::strtoull(word.c_str(), &end, 10);
    if (word.empty() || *end || value == 0 || value > most)
      return {};
    result.push_back(static_cast<T>(value));
  }
  return result;
}

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t at = word.find('=');
    const std::string key = word.substr(0, at);
    const std::string value = at == std::string::npos ? "" : word.substr(at + 1);
    if (key == "--out" && !value.empty())
      options.out = value;
    else if (key == "--types" && (value == "f32" || value == "bf16" || value == "f32,bf16"))
      options.f32 = value != "bf16", options.bf16 = value != "f32";
    else if (const auto ranks = numbers<int>(value, kMaxPeers);
             key == "--ranks" && ranks.size() == 1)
      options.ranks = ranks[0];
    else if (const auto counts = numbers<uint64_t>(value, 4096);
             key == "--counts" && !counts.empty())
      options.counts = counts;
    else if (const auto blocks = numbers<uint32_t>(value, kernels::kRingBlocks);
             key == "--blocks" && !blocks.empty())
      options.blocks = blocks;
    else if (const auto threads = numbers<uint32_t>(value, kernels::kUpdateThreads);
             key == "--threads" && threads.size() == 1)
      options.threads = threads[0];
    else if (const auto chunk = numbers<uint32_t>(value, 1u << 20);
             key == "--chunk" && chunk.size() == 1)
      options.chunk = chunk[0];
    else if (const auto slots = numbers<uint32_t>(value, 1024);
             key == "--slots" && slots.size() == 2)
      options.slots = slots;
    else if (key == "--peers" && value == "no")
      options.peers = false;
    else
      return false;
  }
  return true;
}

} // namespace
} // namespace coll::bench

int main(int argc, char **argv) {
  using namespace coll::bench;
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: bench-root-update [--ranks=N] [--counts=M,...] "
                         "[--types=f32,bf16] [--blocks=N,...] [--threads=N] [--chunk=ELEMS] "
                         "[--slots=N,KIB] [--peers=no] [--out=FILE]\n");
    return 2;
  }
  // A kernel that is loaded at its first launch waits for those that run, and they wait for it.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no GPU on this machine\n");
    return 77;
  }
  const int ranks = options.ranks ? options.ranks : devices;
  devices = std::min(devices, ranks);
  coll::kernels::WorkspaceSizes sizes = coll::kernels::defaultWorkspaceSizes();
  if (!options.slots.empty()) {
    sizes.slots = options.slots[0];
    sizes.ringBytes = static_cast<uint64_t>(ranks) * options.slots[0] * options.slots[1] << 10;
  }
  Team team(ranks, devices, sizes);
  Bench bench(team, options, devices);
  bench.all();
  return bench.bad() == 0 ? 0 : 1;
}
