#include "tools/coll-trace/run.h"

#include <algorithm>
#include <system_error>
#include <thread>

namespace coll::trace {

namespace {

constexpr uint32_t kLevels = levelBit(Level::Coll) | levelBit(Level::Compute) |
                             levelBit(Level::ProxyOp) | levelBit(Level::Note);

struct Span {
  uint64_t startNs, endNs;
};
uint64_t overlap(Span a, Span b) {
  const uint64_t start = std::max(a.startNs, b.startNs), end = std::min(a.endNs, b.endNs);
  return end > start ? end - start : 0;
}

// Kernels of one rank between two collectives that count.
constexpr size_t kMostKernels = 10'000;

constexpr size_t kFilesPerThread = 16; // fewer are not worth a thread

struct Transfer {
  uint64_t process = 0, comm = 0, startNs = 0;
  uint64_t transferNs = 0, peerWaitNs = 0, gpuWaitNs = 0;
  int64_t seq = -1;
  int32_t peer = -1;
  bool isSend = false, hasComm = false;
};

struct OwnPart {
  uint64_t comm;
  Part part;
};

// The slices of one file.
struct FileParts {
  std::map<int32_t, std::vector<OwnPart>> parts; // by rank
  // By process track: compute slices need not name their rank, and transfers neither.
  std::unordered_map<uint64_t, std::vector<Span>> compute;
  std::unordered_map<uint64_t, int32_t> rankOfProcess;
  std::vector<Transfer> transfers;
  std::map<uint64_t, int> ranks; // of a communicator
};

class Loader {
public:
  rt::Status load(const std::string &path) {
    file_ = FileParts();
    FileFacts facts;
    COLL_RETURN_IF_ERROR(
        readSlices(path, kLevels, [&](const Slice &slice) { take(slice, facts); }, facts));
    run_.dropped += facts.dropped;
    if (facts.truncated)
      run_.truncated.push_back(path);
    addTransfers();
    for (auto &[rank, parts] : file_.parts)
      addRank(rank, parts);
    return rt::Status::okay();
  }
  Run take() { return std::move(run_); }

private:
  void take(const Slice &slice, const FileFacts &facts) {
    const int64_t named = slice.number(Key::Rank, -1);
    const int32_t rank = static_cast<int32_t>(std::max<int64_t>(0, named));
    const uint64_t comm = static_cast<uint64_t>(slice.number(Key::Comm, 0));
    const uint64_t process = processOf(slice.track, facts);
    if (named >= 0)
      file_.rankOfProcess[process] = rank;
    if (slice.level == Level::Note && slice.name == "communicator")
      run_.communicators[comm].ranks = static_cast<int>(slice.number(Key::Ranks));
    else if (slice.level == Level::Compute)
      run_.hasCompute = true, file_.compute[process].push_back({slice.startNs, slice.endNs});
    else if (slice.level == Level::ProxyOp)
      takeTransfer(slice, process);
    else if (slice.level == Level::Coll && !slice.isInstant)
      takePart(slice, comm, rank);
  }
  void takeTransfer(const Slice &slice, uint64_t process) {
    Transfer transfer;
    transfer.process = process;
    transfer.comm = static_cast<uint64_t>(slice.number(Key::Comm, 0));
    transfer.hasComm = slice.has(Key::Comm);
    transfer.startNs = slice.startNs;
    transfer.seq = slice.number(Key::Seq, -1);
    transfer.peer = static_cast<int32_t>(slice.number(Key::Peer, -1));
    transfer.isSend = slice.text(Key::Direction) == "send";
    transfer.transferNs = static_cast<uint64_t>(slice.number(Key::TransferNs));
    transfer.peerWaitNs = static_cast<uint64_t>(slice.number(Key::PeerWaitNs));
    transfer.gpuWaitNs = static_cast<uint64_t>(slice.number(Key::GpuWaitNs));
    file_.transfers.push_back(transfer);
  }
  void takePart(const Slice &slice, uint64_t comm, int32_t rank) {
    if (slice.endNs < slice.startNs)
      return;
    Part part;
    part.rank = rank;
    part.seq = static_cast<uint64_t>(slice.number(Key::Seq));
    part.enqueuedNs = part.arrivedNs = slice.startNs;
    part.endNs = slice.endNs;
    // How long the kernels ran is exact on the GPU's clock; their end is that of the slice.
    const uint64_t gpuNs = static_cast<uint64_t>(slice.number(Key::GpuEndNs)) -
                           static_cast<uint64_t>(slice.number(Key::GpuStartNs));
    if (slice.number(Key::GpuStartNs) && gpuNs <= slice.endNs - slice.startNs)
      part.arrivedNs = slice.endNs - gpuNs;
    part.what = whatOf(slice);
    part.call = callOf(slice);
    if (int ranks = static_cast<int>(slice.number(Key::Ranks)); ranks > 0)
      run_.communicators[comm].ranks = ranks;
    file_.parts[rank].push_back({comm, part});
  }
  // The same for the same function, count and type, whatever the slice is called.
  static uint64_t callOf(const Slice &slice) {
    const std::string &func = slice.text(Key::Func);
    return std::hash<std::string>()((func.empty() ? slice.name : func) + '\n' +
                                    slice.text(Key::Datatype) + '\n' +
                                    std::to_string(slice.number(Key::Count)));
  }
  uint32_t whatOf(const Slice &slice) {
    std::string what = slice.name + ", " + std::to_string(slice.number(Key::Count)) + " " +
                       slice.text(Key::Datatype);
    auto [found, isNew] = whatNumbers_.emplace(what, run_.whats.size());
    if (isNew)
      run_.whats.push_back(what);
    if (const std::string &place = slice.text(Key::Location); !place.empty())
      run_.places.emplace(found->second, place);
    return found->second;
  }

  // To the collective that they name, or else to the one of their rank that they lie in.
  void addTransfers() {
    std::map<std::pair<int32_t, uint64_t>, std::vector<Part *>> bySeq;
    std::map<int32_t, std::vector<Part *>> byTime;
    for (auto &[rank, parts] : file_.parts)
      for (OwnPart &own : parts) {
        bySeq[{rank, own.comm}].push_back(&own.part);
        byTime[rank].push_back(&own.part);
      }
    for (auto &[rank, parts] : byTime)
      std::sort(parts.begin(), parts.end(),
                [](const Part *a, const Part *b) { return a->enqueuedNs < b->enqueuedNs; });
    for (auto &[key, parts] : bySeq)
      std::sort(parts.begin(), parts.end(),
                [](const Part *a, const Part *b) { return a->seq < b->seq; });
    for (const Transfer &transfer : file_.transfers) {
      auto rank = file_.rankOfProcess.find(transfer.process);
      if (rank == file_.rankOfProcess.end())
        continue;
      Part *part =
          transfer.hasComm && transfer.seq >= 0
              ? findSeq(bySeq[{rank->second, transfer.comm}], static_cast<uint64_t>(transfer.seq))
              : findTime(byTime[rank->second], transfer.startNs);
      if (part)
        add(*part, transfer);
    }
  }
  static Part *findSeq(const std::vector<Part *> &parts, uint64_t seq) {
    auto found =
        std::lower_bound(parts.begin(), parts.end(), seq,
                         [](const Part *part, uint64_t value) { return part->seq < value; });
    return found != parts.end() && (*found)->seq == seq ? *found : nullptr;
  }
  static Part *findTime(const std::vector<Part *> &parts, uint64_t ns) {
    auto after =
        std::upper_bound(parts.begin(), parts.end(), ns,
                         [](uint64_t value, const Part *part) { return value < part->enqueuedNs; });
    return after == parts.begin() || (*(after - 1))->endNs < ns ? nullptr : *(after - 1);
  }
  static void add(Part &part, const Transfer &transfer) {
    part.hasProxies = true;
    part.gpuWaitNs = std::max(part.gpuWaitNs, transfer.gpuWaitNs);
    if (!transfer.isSend)
      part.receiveWaitNs = std::max(part.receiveWaitNs, transfer.peerWaitNs);
    if (transfer.isSend && (part.peer < 0 || transfer.transferNs > part.transferNs)) {
      part.transferNs = transfer.transferNs;
      part.peer = transfer.peer;
    }
  }

  // The part of a span that compute slices cover, which are sorted and do not overlap.
  static uint64_t computedIn(const std::vector<Span> &compute, Span span) {
    auto at = std::partition_point(compute.begin(), compute.end(),
                                   [&](const Span &slice) { return slice.endNs <= span.startNs; });
    uint64_t sum = 0;
    for (size_t i = 0; at != compute.end() && at->startNs < span.endNs && i < kMostKernels;
         ++at, ++i)
      sum += overlap(*at, span);
    return sum;
  }

  // What a rank did between its collectives, in the order of its own time.
  void addRank(int32_t rank, std::vector<OwnPart> &parts) {
    std::sort(parts.begin(), parts.end(), [](const OwnPart &a, const OwnPart &b) {
      return a.part.arrivedNs < b.part.arrivedNs;
    });
    std::vector<Span> compute;
    for (const auto &[process, spans] : file_.compute)
      if (auto found = file_.rankOfProcess.find(process);
          found != file_.rankOfProcess.end() && found->second == rank)
        compute.insert(compute.end(), spans.begin(), spans.end());
    std::sort(compute.begin(), compute.end(),
              [](const Span &a, const Span &b) { return a.startNs < b.startNs; });
    for (OwnPart &own : parts)
      own.part.hiddenNs = computedIn(compute, {own.part.arrivedNs, own.part.endNs});
    uint64_t lastEndNs = 0;
    size_t next = 0;
    for (OwnPart &own : parts) {
      Part &part = own.part;
      if (lastEndNs && part.arrivedNs > lastEndNs) {
        part.idleNs = part.arrivedNs - lastEndNs;
        part.lateCallNs =
            part.enqueuedNs > lastEndNs ? std::min(part.enqueuedNs, part.arrivedNs) - lastEndNs : 0;
        while (next < compute.size() && compute[next].endNs <= lastEndNs)
          ++next;
        const size_t end = std::min(compute.size(), next + kMostKernels);
        for (size_t i = next; i < end && compute[i].startNs < part.arrivedNs; ++i)
          part.computeNs += overlap(compute[i], {lastEndNs, part.arrivedNs});
      }
      lastEndNs = std::max(lastEndNs, part.endNs);
      run_.communicators[own.comm].parts.push_back(part);
    }
  }

  Run run_;
  FileParts file_;
  std::map<std::string, uint32_t> whatNumbers_;
};

// Adds what another thread has loaded; its numbers of whats become those of `to`.
void append(Run &to, Run &&from) {
  std::map<std::string, uint32_t> numbers;
  for (size_t i = 0; i < to.whats.size(); ++i)
    numbers[to.whats[i]] = static_cast<uint32_t>(i);
  std::vector<uint32_t> renumbered;
  for (size_t i = 0; i < from.whats.size(); ++i) {
    auto [found, isNew] = numbers.emplace(from.whats[i], static_cast<uint32_t>(to.whats.size()));
    if (isNew)
      to.whats.push_back(from.whats[i]);
    renumbered.push_back(found->second);
    if (auto place = from.places.find(static_cast<uint32_t>(i)); place != from.places.end())
      to.places.emplace(found->second, place->second);
  }
  for (auto &[comm, communicator] : from.communicators) {
    CommunicatorParts &target = to.communicators[comm];
    target.ranks = std::max(target.ranks, communicator.ranks);
    for (Part &part : communicator.parts) {
      part.what = renumbered[part.what];
      target.parts.push_back(part);
    }
    communicator.parts = {};
  }
  to.hasCompute |= from.hasCompute;
  to.dropped += from.dropped;
  to.truncated.insert(to.truncated.end(), from.truncated.begin(), from.truncated.end());
}

void sortParts(Run &run) {
  for (auto &[comm, communicator] : run.communicators)
    std::sort(communicator.parts.begin(), communicator.parts.end(),
              [](const Part &a, const Part &b) {
                return a.seq != b.seq ? a.seq < b.seq : a.rank < b.rank;
              });
}

} // namespace

// Files are shared out among threads; which one gets which changes nothing in the result.
rt::Result<Run> loadRun(const std::vector<std::string> &paths) {
  const size_t most = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 16);
  const size_t count = std::clamp<size_t>(paths.size() / kFilesPerThread, 1, most);
  std::vector<Loader> loaders(count);
  std::vector<rt::Status> statuses(count);
  auto work = [&](size_t number) {
    for (size_t i = number; i < paths.size() && statuses[number].ok(); i += count)
      statuses[number] = loaders[number].load(paths[i]);
  };
  std::vector<std::thread> threads;
  size_t started = 1;
  try {
    for (; started < count; ++started)
      threads.emplace_back(work, started);
  } catch (const std::system_error &) {
    // There can be no more threads: this one does their part.
  }
  work(0);
  for (; started < count; ++started)
    work(started);
  for (std::thread &thread : threads)
    thread.join();
  for (const rt::Status &status : statuses)
    COLL_RETURN_IF_ERROR(status);
  Run run;
  for (Loader &loader : loaders)
    append(run, loader.take());
  sortParts(run);
  return run;
}

} // namespace coll::trace
