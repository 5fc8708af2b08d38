#include "tools/coll-trace/run.h"

#include "tools/coll-trace/files.h"
#include "tools/coll-trace/order_parts.h"

#include <algorithm>
#include <atomic>
#include <set>

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

// The most kernels of one rank between two collectives that are counted.
constexpr size_t kMostKernels = 10'000;

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

// The numbers of a slice's call, given when it first occurred.
struct What {
  std::string name, function, datatype;
  int64_t count = 0;
  uint32_t number = 0; // Part::what
  uint64_t call = 0;   // Part::call
  bool hasPlace = false;
};

uint64_t mix(uint64_t hash, uint64_t more) { return (hash ^ more) * 0x9e3779b97f4a7c15u; }
uint64_t hashOf(const std::string &text) { return std::hash<std::string>()(text); }

// The slices of one file.
struct FileParts {
  std::map<int32_t, std::vector<OwnPart>> parts; // by rank
  // The topmost track above a track; the cache is cleared when a new track is described.
  std::unordered_map<uint64_t, uint64_t> processes;
  size_t tracksThen = 0;
  // By process track, because compute slices and transfers need not name their rank.
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
  // Whether a rank has two collectives of one number and of different functions.
  bool isNumberedByFunction(uint64_t comm) const { return numberedByFunction_.count(comm); }

private:
  uint64_t process(uint64_t track, const FileFacts &facts) {
    if (file_.tracksThen != facts.tracks.size())
      file_.processes.clear();
    file_.tracksThen = facts.tracks.size();
    auto [found, isNew] = file_.processes.emplace(track, 0);
    if (isNew)
      found->second = processOf(track, facts);
    return found->second;
  }
  void take(const Slice &slice, const FileFacts &facts) {
    const int64_t named = slice.number(Key::Rank, -1);
    const int32_t rank = static_cast<int32_t>(std::max<int64_t>(0, named));
    const uint64_t comm = static_cast<uint64_t>(slice.number(Key::Comm, 0));
    const uint64_t process = this->process(slice.track, facts);
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
    // The kernel's duration is exact on the GPU's clock; its end is taken to be that of the slice.
    const uint64_t gpuNs = static_cast<uint64_t>(slice.number(Key::GpuEndNs)) -
                           static_cast<uint64_t>(slice.number(Key::GpuStartNs));
    if (slice.number(Key::GpuStartNs) && gpuNs <= slice.endNs - slice.startNs)
      part.arrivedNs = slice.endNs - gpuNs;
    const What &what = whatOf(slice);
    part.what = what.number;
    part.call = what.call;
    if (int ranks = static_cast<int>(slice.number(Key::Ranks)); ranks > 0)
      run_.communicators[comm].ranks = ranks;
    file_.parts[rank].push_back({comm, part});
  }
  // Compares the texts, and joins them only if they are new.
  What &whatOf(const Slice &slice) {
    const std::string &named = slice.text(Key::Func), &datatype = slice.text(Key::Datatype);
    const std::string &function = named.empty() ? slice.name : named;
    const int64_t count = slice.number(Key::Count);
    const uint64_t call =
        mix(mix(hashOf(function), hashOf(datatype)), static_cast<uint64_t>(count));
    const uint64_t key = mix(call, hashOf(slice.name));
    auto [at, end] = whats_.equal_range(key);
    while (at != end && !(at->second.name == slice.name && at->second.function == function &&
                          at->second.datatype == datatype && at->second.count == count))
      ++at;
    if (at == end) {
      at = whats_.emplace(key, What{slice.name, function, datatype, count, 0, call, false});
      at->second.number = numberOf(at->second);
    }
    What &what = at->second;
    const std::string &place = what.hasPlace ? std::string() : slice.text(Key::Location);
    if (!place.empty()) {
      what.hasPlace = true;
      run_.places.emplace(what.number, place);
    }
    return what;
  }
  uint32_t numberOf(const What &what) {
    std::string text = what.name + ", " + std::to_string(what.count) + " " + what.datatype;
    auto [found, isNew] = whatNumbers_.emplace(text, run_.whats.size());
    if (isNew) {
      run_.whats.push_back(std::move(text));
      run_.functions.push_back(what.function);
    }
    return found->second;
  }

  // Adds each transfer to the collective that it names, or else to the one of its rank that
  // contains it.
  void addTransfers() {
    using Parts = std::vector<Part *>;
    std::map<std::pair<int32_t, uint64_t>, Parts> bySeq;
    std::map<int32_t, Parts> byTime;
    for (auto &[rank, parts] : file_.parts)
      for (OwnPart &own : parts)
        bySeq[{rank, own.comm}].push_back(&own.part);
    for (auto &[key, parts] : bySeq) {
      sortUnlessSorted(parts, [](const Part *a, const Part *b) {
        return a->seq != b->seq ? a->seq < b->seq : a->enqueuedNs < b->enqueuedNs;
      });
      for (size_t i = 1; i < parts.size(); ++i)
        if (parts[i]->seq == parts[i - 1]->seq &&
            functionOf(*parts[i]) != functionOf(*parts[i - 1]))
          numberedByFunction_.insert(key.second);
    }
    if (std::any_of(file_.transfers.begin(), file_.transfers.end(),
                    [](const Transfer &transfer) { return !transfer.hasComm || transfer.seq < 0; }))
      for (auto &[rank, parts] : file_.parts) {
        Parts &own = byTime[rank];
        for (OwnPart &part : parts)
          own.push_back(&part.part);
        sortUnlessSorted(
            own, [](const Part *a, const Part *b) { return a->enqueuedNs < b->enqueuedNs; });
      }
    for (const Transfer &transfer : file_.transfers) {
      auto rank = file_.rankOfProcess.find(transfer.process);
      if (rank == file_.rankOfProcess.end())
        continue;
      Part *part = transfer.hasComm && transfer.seq >= 0
                       ? findSeq(bySeq[{rank->second, transfer.comm}], transfer)
                       : findTime(byTime[rank->second], transfer.startNs);
      if (part)
        add(*part, transfer);
    }
  }
  template <typename Less>
  static void sortUnlessSorted(std::vector<Part *> &parts, Less less) {
    if (!std::is_sorted(parts.begin(), parts.end(), less))
      std::sort(parts.begin(), parts.end(), less);
  }
  const std::string &functionOf(const Part &part) const { return run_.functions[part.what]; }
  // If several collectives of different functions have its number, returns the last one that began
  // before it.
  static Part *findSeq(const std::vector<Part *> &parts, const Transfer &transfer) {
    auto isBefore = [](const Part *part, uint64_t seq) { return part->seq < seq; };
    const uint64_t seq = static_cast<uint64_t>(transfer.seq);
    auto found = std::lower_bound(parts.begin(), parts.end(), seq, isBefore);
    if (found == parts.end() || (*found)->seq != seq)
      return nullptr;
    while (found + 1 != parts.end() && (*(found + 1))->seq == seq &&
           (*(found + 1))->enqueuedNs <= transfer.startNs)
      ++found;
    return *found;
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

  // Returns how much of a span is covered by compute slices, which are sorted and do not overlap.
  static uint64_t computedIn(const std::vector<Span> &compute, Span span) {
    auto at = std::partition_point(compute.begin(), compute.end(),
                                   [&](const Span &slice) { return slice.endNs <= span.startNs; });
    uint64_t sum = 0;
    for (size_t i = 0; at != compute.end() && at->startNs < span.endNs && i < kMostKernels;
         ++at, ++i)
      sum += overlap(*at, span);
    return sum;
  }

  // Adds what a rank did between its collectives, in the order of its own time.
  void addRank(int32_t rank, std::vector<OwnPart> &parts) {
    auto isEarlier = [](const OwnPart &a, const OwnPart &b) {
      return a.part.arrivedNs < b.part.arrivedNs;
    };
    if (!std::is_sorted(parts.begin(), parts.end(), isEarlier))
      std::sort(parts.begin(), parts.end(), isEarlier);
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
  std::unordered_multimap<uint64_t, What> whats_; // by a hash of their texts
  std::map<std::string, uint32_t> whatNumbers_;
  std::set<uint64_t> numberedByFunction_; // communicators
};

// Adds what a thread has loaded; its numbers of whats are converted to those of `to`.
class Union {
public:
  void add(Loader &loader) {
    Run from = loader.take();
    std::vector<uint32_t> numbers;
    for (size_t i = 0; i < from.whats.size(); ++i)
      numbers.push_back(numberOf(from, static_cast<uint32_t>(i)));
    for (auto &[comm, communicator] : from.communicators) {
      CommunicatorParts &target = to_.communicators[comm];
      target.ranks = std::max(target.ranks, communicator.ranks);
      for (Part &part : communicator.parts)
        part.what = numbers[part.what];
      UnorderedParts &parts = parts_[comm];
      parts.isNumberedByFunction |= loader.isNumberedByFunction(comm);
      parts.lists.push_back(std::move(communicator.parts));
    }
    to_.hasCompute |= from.hasCompute;
    to_.dropped += from.dropped;
    to_.truncated.insert(to_.truncated.end(), from.truncated.begin(), from.truncated.end());
  }
  Run take() {
    std::map<std::string, uint32_t> numbers;
    std::vector<uint32_t> functions;
    for (const std::string &function : to_.functions)
      functions.push_back(numbers.emplace(function, numbers.size()).first->second);
    for (auto &[comm, parts] : parts_)
      to_.communicators[comm].parts = orderParts(std::move(parts), functions);
    std::sort(to_.truncated.begin(), to_.truncated.end());
    return std::move(to_);
  }

private:
  uint32_t numberOf(const Run &from, uint32_t what) {
    auto [found, isNew] =
        numbers_.emplace(from.whats[what], static_cast<uint32_t>(to_.whats.size()));
    if (isNew) {
      to_.whats.push_back(from.whats[what]);
      to_.functions.push_back(from.functions[what]);
    }
    if (auto place = from.places.find(what); place != from.places.end())
      to_.places.emplace(found->second, place->second);
    return found->second;
  }

  Run to_;
  std::map<uint64_t, UnorderedParts> parts_;
  std::map<std::string, uint32_t> numbers_;
};

} // namespace

rt::Result<Run> loadRun(const std::vector<std::string> &paths) {
  std::vector<Loader> loaders(threadsFor(paths.size()));
  std::vector<rt::Status> statuses(paths.size());
  std::atomic<bool> hasFailed{false};
  forEachFile(paths.size(), loaders.size(), [&](size_t file, size_t thread) {
    if (hasFailed)
      return;
    statuses[file] = loaders[thread].load(paths[file]);
    if (!statuses[file].ok())
      hasFailed = true;
  });
  for (const rt::Status &status : statuses)
    COLL_RETURN_IF_ERROR(status);
  Union all;
  for (Loader &loader : loaders)
    all.add(loader);
  return all.take();
}

} // namespace coll::trace
