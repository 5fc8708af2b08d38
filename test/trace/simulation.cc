#include "test/trace/simulation.h"

#include <algorithm>
#include <memory>
#include <random>

namespace coll::trace::test {

using namespace profiler::perfetto;

namespace {

constexpr double kComputeNs = 2e6, kHostNs = 1e5, kWorkNs = 5e5, kLaunchNs = 1e4;
constexpr uint64_t kStartNs = 1'000'000'000'000;

// The trace of one rank, on its own clock.
struct Rank {
  std::unique_ptr<FileSink> sink;
  std::unique_ptr<Writer> writer;
  TrackId compute = 0, colls = 0, sends = 0, receives = 0;
  uint64_t clockNs = 0; // added to the common time
  double endNs = 0;     // of its last collective
};

// The part of one rank in one collective, in common time.
struct Turn {
  double computeNs = 0, calledNs = 0, arrivedNs = 0;
  double transferNs = 0, receiveWaitNs = 0, gpuWaitNs = 0;
};

class World {
public:
  World(const Simulation &simulation, const std::string &folder)
      : simulation_(simulation), random_(simulation.seed), ranks_(size_t(simulation.ranks)) {
    for (size_t r = 0; r < ranks_.size(); ++r)
      paths_.push_back(open(ranks_[r], static_cast<int>(r), folder));
  }
  std::vector<std::string> run() {
    for (uint64_t seq = 0; seq < simulation_.collectives; ++seq)
      if (!collective(seq))
        break;
    return paths_;
  }

private:
  std::string open(Rank &rank, int number, const std::string &folder) {
    const std::string path = folder + "/rank" + std::to_string(number) + ".pftrace";
    rank.sink = std::make_unique<FileSink>(FileSink::create(path).take());
    rank.writer = std::make_unique<Writer>(
        *rank.sink, WriterOptions{kClockMonotonic, simulation_.seed * 4096 + uint64_t(number) + 1});
    rank.clockNs = random_() % 10'000'000'000;
    Writer &writer = *rank.writer;
    TrackId process = writer.process("rank " + std::to_string(number), number + 1, number);
    rank.compute = writer.track(process, "compute");
    rank.colls = writer.track(process, "collectives");
    rank.sends = writer.track(process, "send");
    rank.receives = writer.track(process, "recv");
    writer.instant(process, Level::Note, "communicator", kStartNs + rank.clockNs,
                   {{Key::Comm, 7u}, {Key::Rank, number}, {Key::Ranks, simulation_.ranks}});
    return path;
  }
  double noisy(double ns) {
    return ns * std::max(0.2, 1 + simulation_.noise * std::normal_distribution<double>()(random_));
  }
  // Returns the fault's delay, if it is of this kind and occurs now.
  double delay(Fault fault, size_t rank, uint64_t seq, bool isInCollective = false) {
    const auto &injected = simulation_.fault;
    if (!injected || injected->fault != fault || size_t(injected->rank) != rank ||
        seq < injected->seq || injected->isInCollective != isInCollective)
      return 0;
    const bool strikes =
        seq == injected->seq || std::uniform_real_distribution<double>()(random_) < injected->share;
    return strikes ? injected->size * kComputeNs : 0;
  }
  bool isStruck(Fault fault, size_t rank, uint64_t seq) const {
    const auto &injected = simulation_.fault;
    return injected && injected->fault == fault && size_t(injected->rank) == rank &&
           seq >= injected->seq;
  }

  Turn turnOf(size_t r, uint64_t seq) {
    Turn turn;
    const double compute = noisy(kComputeNs) + delay(Fault::Compute, r, seq);
    const double host = noisy(kHostNs) + delay(Fault::Host, r, seq);
    const double gpu = delay(Fault::Gpu, r, seq);
    turn.computeNs = compute;
    const double begin = ranks_[r].endNs;
    if (simulation_.runsAhead) {
      turn.calledNs = begin + host - 0.9 * kHostNs;
      turn.arrivedNs = std::max(turn.calledNs + noisy(kLaunchNs), begin + compute) + gpu;
    } else {
      turn.calledNs = begin + compute + host;
      turn.arrivedNs = turn.calledNs + (gpu > 0 ? gpu : noisy(kLaunchNs));
    }
    return turn;
  }

  // Returns false if a rank has stopped, so that nothing follows.
  bool collective(uint64_t seq) {
    std::vector<Turn> turns;
    double last = 0, work = noisy(kWorkNs);
    size_t slowLink = ranks_.size(), slowGpu = ranks_.size();
    bool stopped = false;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      turns.push_back(turnOf(r, seq));
      turns[r].transferNs = noisy(0.3 * kWorkNs);
      turns[r].gpuWaitNs = noisy(0.2 * kWorkNs);
      last = std::max(last, turns[r].arrivedNs);
      stopped |= isStruck(Fault::Stopped, r, seq);
      if (double slow = delay(Fault::Network, r, seq); slow > 0) {
        turns[r].transferNs += slow;
        work += slow;
        slowLink = r;
      }
      if (double slow = delay(Fault::Gpu, r, seq, true); slow > 0) {
        turns[r].gpuWaitNs += slow;
        work += slow;
        slowGpu = r;
      }
    }
    const double end = stopped ? last + 1e10 : last + work;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      if (isStruck(Fault::Stopped, r, seq))
        continue;
      Turn &turn = turns[r];
      const bool isSpared = r == slowGpu;
      turn.receiveWaitNs = noisy(0.3 * kWorkNs) + (isSpared ? 0 : end - turn.arrivedNs - kWorkNs);
      turn.receiveWaitNs = std::max(0.0, turn.receiveWaitNs);
      if (slowGpu < ranks_.size() && !isSpared)
        turn.gpuWaitNs += 0.5 * (work - kWorkNs); // their own data depends on it, too
      write(ranks_[r], static_cast<int>(r), seq, turn, end + noisy(1e3));
    }
    (void)slowLink;
    return !stopped;
  }

  void write(Rank &rank, int number, uint64_t seq, const Turn &turn, double end) {
    auto at = [&](double ns) { return kStartNs + rank.clockNs + static_cast<uint64_t>(ns); };
    const uint64_t count = isStruck(Fault::Mismatch, size_t(number), seq) ? 2048 : 1024;
    const int next = (number + 1) % simulation_.ranks;
    const bool isBroadcast = simulation_.countsByFunction && seq % 3 == 2;
    const uint64_t told = !simulation_.countsByFunction ? seq
                          : isBroadcast                 ? seq / 3
                                                        : seq - seq / 3;
    Writer &writer = *rank.writer;
    writer.slice(rank.compute, Level::Compute, "matmul", at(rank.endNs + 10),
                 at(rank.endNs + turn.computeNs));
    if (simulation_.hasProxies) {
      auto op = [&](TrackId track, const char *direction, int peer) {
        writer.slice(track, Level::ProxyOp, direction, at(turn.arrivedNs), at(end - 1),
                     {{Key::Rank, number},
                      {Key::Comm, 7u},
                      {Key::Seq, told},
                      {Key::Peer, peer},
                      {Key::Direction, direction},
                      {Key::TransferNs, static_cast<uint64_t>(turn.transferNs)},
                      {Key::PeerWaitNs, static_cast<uint64_t>(turn.receiveWaitNs)},
                      {Key::GpuWaitNs, static_cast<uint64_t>(turn.gpuWaitNs)}});
      };
      op(rank.sends, "send", next);
      op(rank.receives, "recv", (number + simulation_.ranks - 1) % simulation_.ranks);
    }
    // The GPU's clock has its own origin.
    const uint64_t gpuStart = at(turn.arrivedNs) - 777'000'000, gpuEnd = at(end) - 777'000'000;
    writer.slice(rank.colls, Level::Coll, isBroadcast ? "Broadcast" : "AllReduce",
                 at(std::max(turn.calledNs, rank.endNs + 5)), at(end),
                 {{Key::Rank, number},
                  {Key::Comm, 7u},
                  {Key::Seq, told},
                  {Key::Count, count},
                  {Key::Datatype, "ncclFloat32"},
                  {Key::Location, "train.py:42"},
                  {Key::GpuStartNs, gpuStart},
                  {Key::GpuEndNs, gpuEnd}});
    rank.endNs = end;
  }

  const Simulation simulation_;
  std::mt19937_64 random_;
  std::vector<Rank> ranks_;
  std::vector<std::string> paths_;
};

} // namespace

std::vector<std::string> simulate(const Simulation &simulation, const std::string &folder) {
  return World(simulation, folder).run();
}

} // namespace coll::trace::test
