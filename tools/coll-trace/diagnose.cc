#include "tools/coll-trace/diagnose.h"

#include "tools/coll-trace/greatest.h"
#include "tools/coll-trace/rank_index.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <unordered_map>

namespace coll::trace {

namespace {

constexpr uint64_t kLeastNs = 20'000;
constexpr double kRatio = 3;    // over the median rank's greatest excess
constexpr double kShare = 0.10; // of the usual time between collectives

// Reorders `values`.
template <typename T>
T median(std::vector<T> &values) {
  if (values.empty())
    return T();
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string microseconds(uint64_t ns) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f us", static_cast<double>(ns) / 1e3);
  return text;
}

// The parts of one collective.
struct Collective {
  const Part *begin, *end;
  size_t size() const { return static_cast<size_t>(end - begin); }
  uint64_t seq() const { return begin->seq; }
};

// One rank's, or one link's, excess in one collective.
struct Excess {
  const Part *part;
  size_t collective;
  int64_t ns;
};

class Diagnosis {
public:
  Diagnosis(const Run &run, uint64_t comm, const CommunicatorParts &parts)
      : run_(run), comm_(comm), numParts_(parts.parts.size()) {
    const Part *at = parts.parts.data(), *end = at + parts.parts.size();
    while (at != end) {
      const Part *next = at;
      while (next != end && next->seq == at->seq)
        ++next;
      collectives_.push_back({at, next});
      at = next;
    }
    ranks_ = RankIndex(parts.parts);
    period_ = usualPeriod();
  }

  void find(std::vector<Verdict> &verdicts) {
    findMismatch(verdicts);
    findStopped(verdicts);
    findLate(verdicts);
    findLink(verdicts);
    findSlowGpu(verdicts);
  }

private:
  // The usual time between the ends of two collectives on a rank.
  uint64_t usualPeriod() const {
    std::vector<uint64_t> periods, last(ranks_.size());
    periods.reserve(numParts_);
    for (const Collective &collective : collectives_)
      for (const Part *part = collective.begin; part != collective.end; ++part) {
        uint64_t &lastNs = last[ranks_.of(part->rank)];
        if (lastNs && part->endNs > lastNs)
          periods.push_back(part->endNs - lastNs);
        lastNs = part->endNs;
      }
    return median(periods);
  }
  Verdict verdict(Fault fault, const Part &part) const {
    Verdict result;
    result.fault = fault;
    result.rank = part.rank;
    result.comm = comm_;
    result.seq = part.seq;
    result.what = run_.what(part);
    if (auto found = run_.places.find(part.what); found != run_.places.end())
      result.place = found->second;
    return result;
  }
  // The shortest time that any rank spent in the collective, taken as its duration without waiting.
  static uint64_t workNs(const Collective &collective) {
    uint64_t least = UINT64_MAX;
    for (const Part *part = collective.begin; part != collective.end; ++part)
      least = std::min(least, part->endNs - part->arrivedNs);
    return least;
  }
  static uint64_t waitedNs(const Collective &collective) {
    const uint64_t work = workNs(collective);
    uint64_t sum = 0;
    for (const Part *part = collective.begin; part != collective.end; ++part)
      sum += part->endNs - part->arrivedNs - work;
    return sum;
  }

  void findMismatch(std::vector<Verdict> &verdicts) const {
    for (const Collective &collective : collectives_) {
      if (std::all_of(collective.begin, collective.end,
                      [&](const Part &part) { return part.call == collective.begin->call; }))
        continue;
      std::unordered_map<uint64_t, size_t> counts;
      for (const Part *part = collective.begin; part != collective.end; ++part)
        ++counts[part->call];
      auto usual = std::max_element(counts.begin(), counts.end(),
                                    [](auto &a, auto &b) { return a.second < b.second; });
      const Part *other = collective.begin;
      while (other->call != usual->first)
        ++other;
      for (const Part *part = collective.begin; part != collective.end; ++part)
        if (part->call != usual->first) {
          Verdict result = verdict(Fault::Mismatch, *part);
          result.times = 1;
          result.evidence = "it calls " + run_.what(*part) + ", the others " + run_.what(*other);
          verdicts.push_back(result);
          return;
        }
    }
  }

  // Finds a rank that is missing in the last collectives but was in all before.
  void findStopped(std::vector<Verdict> &verdicts) const {
    std::vector<uint64_t> lastSeq(ranks_.size());
    for (const Collective &collective : collectives_)
      for (const Part *part = collective.begin; part != collective.end; ++part)
        lastSeq[ranks_.of(part->rank)] = part->seq;
    const uint64_t last = collectives_.empty() ? 0 : collectives_.back().seq();
    size_t behind = 0, first = lastSeq.size();
    for (size_t i = 0; i < lastSeq.size(); ++i) {
      behind += lastSeq[i] < last;
      if (lastSeq[i] < last && (first == lastSeq.size() || lastSeq[i] < lastSeq[first]))
        first = i;
    }
    // Traces end at different times, so a rank counts as stopped only if most others go on.
    if (first == lastSeq.size() || 2 * behind > lastSeq.size())
      return;
    const int32_t rank = ranks_.rank(first);
    const uint64_t seq = lastSeq[first] + 1;
    for (const Collective &collective : collectives_)
      if (collective.seq() == seq) {
        Verdict result = verdict(Fault::Stopped, *collective.begin);
        result.rank = rank;
        result.times = last - seq + 1;
        result.evidence = "its trace ends before the collective, in which " +
                          std::to_string(collective.size()) + " other ranks are";
        verdicts.push_back(result);
        return;
      }
  }

  // Finds the first excess of a key (given by `keyOf`) whose greatest excess is far above those of
  // the other keys. `keys`: the number of possible keys.
  template <typename KeyOf>
  std::optional<Excess> outstanding(const std::vector<Excess> &excesses, KeyOf keyOf,
                                    uint64_t &times) const {
    Greatest greatest;
    for (const Excess &excess : excesses)
      greatest.add(keyOf(*excess.part), excess.ns);
    const std::vector<Greatest::Entry> entries = greatest.entries();
    if (entries.size() < 2)
      return std::nullopt;
    Greatest::Entry worst = entries.front();
    for (const Greatest::Entry &entry : entries)
      if (entry.ns > worst.ns || (entry.ns == worst.ns && entry.key < worst.key))
        worst = entry;
    std::vector<int64_t> others;
    for (const Greatest::Entry &entry : entries)
      if (entry.key != worst.key)
        others.push_back(std::max<int64_t>(0, entry.ns));
    const double noise = static_cast<double>(median(others));
    const double least = std::max(
        {kRatio * noise, kShare * static_cast<double>(period_), static_cast<double>(kLeastNs)});
    if (static_cast<double>(worst.ns) <= least)
      return std::nullopt;
    // The first collective in which the excess was larger than it ever is for the others.
    std::optional<Excess> first;
    times = 0;
    for (const Excess &excess : excesses) {
      if (static_cast<double>(excess.ns) <= least || keyOf(*excess.part) != worst.key)
        continue;
      if (!first || excess.collective < first->collective)
        first = excess;
      ++times;
    }
    return first;
  }

  void findLate(std::vector<Verdict> &verdicts) const {
    std::vector<Excess> excesses;
    std::vector<int64_t> usual(collectives_.size());
    std::vector<int64_t> idle;
    excesses.reserve(numParts_);
    for (size_t i = 0; i < collectives_.size(); ++i) {
      idle.clear();
      for (const Part *part = collectives_[i].begin; part != collectives_[i].end; ++part)
        idle.push_back(static_cast<int64_t>(part->idleNs));
      usual[i] = median(idle);
      for (const Part *part = collectives_[i].begin; part != collectives_[i].end; ++part)
        if (part->idleNs)
          excesses.push_back({part, i, static_cast<int64_t>(part->idleNs) - usual[i]});
    }
    uint64_t times = 0;
    auto byRank = [](const Part &part) { return static_cast<uint64_t>(part.rank); };
    std::optional<Excess> first = outstanding(excesses, byRank, times);
    if (!first)
      return;
    const Collective &collective = collectives_[first->collective];
    std::vector<uint64_t> computed, called;
    for (const Part *part = collective.begin; part != collective.end; ++part) {
      computed.push_back(part->computeNs);
      called.push_back(part->lateCallNs);
    }
    const Part &part = *first->part;
    const uint64_t usualCompute = median(computed), usualCall = median(called);
    const uint64_t late = static_cast<uint64_t>(first->ns);
    const uint64_t more = part.computeNs > usualCompute ? part.computeNs - usualCompute : 0;
    const uint64_t later = part.lateCallNs > usualCall ? part.lateCallNs - usualCall : 0;
    const Fault fault = 2 * more >= late    ? Fault::Compute
                        : 2 * later >= late ? Fault::Host
                                            : Fault::Gpu;
    Verdict result = verdict(fault, part);
    result.lateNs = late;
    result.usualNs = static_cast<uint64_t>(usual[first->collective]);
    result.waitedNs = waitedNs(collective);
    result.times = times;
    if (fault == Fault::Compute)
      result.evidence = "it computed for " + microseconds(part.computeNs) + ", the others for " +
                        microseconds(usualCompute);
    else if (fault == Fault::Host)
      result.evidence = "its host made the call " + microseconds(part.lateCallNs) +
                        " after the collective before, the others after " +
                        microseconds(usualCall) + "; it did not compute longer";
    else
      result.evidence = "its host had made the call in time, and its GPU began " +
                        microseconds(part.idleNs - part.lateCallNs) + " later";
    verdicts.push_back(result);
  }

  // For each collective, how much longer it took than is usual for its kind, without the wait for
  // the last rank.
  std::vector<int64_t> slowBy() const {
    std::unordered_map<uint32_t, std::vector<uint64_t>> works;
    for (const Collective &collective : collectives_)
      works[collective.begin->what].push_back(workNs(collective));
    std::unordered_map<uint32_t, uint64_t> usual;
    for (auto &[what, list] : works) {
      // A fault may affect most collectives, so the fastest tenth shows what is usual.
      auto tenth = list.begin() + static_cast<ptrdiff_t>(list.size() / 10);
      std::nth_element(list.begin(), tenth, list.end());
      usual[what] = *tenth;
    }
    std::vector<int64_t> result;
    for (const Collective &collective : collectives_)
      result.push_back(static_cast<int64_t>(workNs(collective)) -
                       static_cast<int64_t>(usual[collective.begin->what]));
    return result;
  }

  // Finds a link whose sends take longer than those of the others. A send that takes longer than
  // the collective itself is not one of its transfers.
  void findLink(std::vector<Verdict> &verdicts) const {
    std::vector<Excess> excesses;
    std::vector<uint64_t> usual(collectives_.size());
    std::vector<uint64_t> transfers;
    excesses.reserve(numParts_);
    for (size_t i = 0; i < collectives_.size(); ++i) {
      transfers.clear();
      for (const Part *part = collectives_[i].begin; part != collectives_[i].end; ++part)
        if (part->peer >= 0)
          transfers.push_back(part->transferNs);
      usual[i] = median(transfers);
      const int64_t work = static_cast<int64_t>(workNs(collectives_[i]));
      for (const Part *part = collectives_[i].begin; part != collectives_[i].end; ++part)
        if (part->peer >= 0)
          excesses.push_back({part, i,
                              std::min(work, static_cast<int64_t>(part->transferNs) -
                                                 static_cast<int64_t>(usual[i]))});
    }
    uint64_t times = 0;
    auto byLink = [](const Part &part) {
      return static_cast<uint64_t>(part.rank) << 32 | static_cast<uint32_t>(part.peer);
    };
    std::optional<Excess> first = outstanding(excesses, byLink, times);
    if (!first)
      return;
    Verdict result = verdict(Fault::Network, *first->part);
    result.peer = first->part->peer;
    result.lateNs = static_cast<uint64_t>(first->ns);
    result.usualNs = usual[first->collective];
    result.waitedNs = result.lateNs * (collectives_[first->collective].size() - 1);
    result.times = times;
    result.evidence = "its sends to rank " + std::to_string(result.peer) + " were " +
                      microseconds(first->part->transferNs) +
                      " in the network, those of the others " + microseconds(result.usualNs);
    verdicts.push_back(result);
  }

  // Explains a slow collective without a slow link: finds the only rank that did not have to wait
  // for data while its network waited for its GPU.
  void findSlowGpu(std::vector<Verdict> &verdicts) const {
    const std::vector<int64_t> slow = slowBy();
    std::vector<Excess> excesses;
    std::vector<uint64_t> waits;
    for (size_t i = 0; i < collectives_.size(); ++i) {
      waits.clear();
      for (const Part *part = collectives_[i].begin; part != collectives_[i].end; ++part)
        if (part->hasProxies)
          waits.push_back(part->receiveWaitNs);
      if (waits.size() < 3)
        continue;
      const uint64_t usual = median(waits);
      for (const Part *part = collectives_[i].begin; part != collectives_[i].end; ++part) {
        if (!part->hasProxies)
          continue;
        const int64_t spared =
            static_cast<int64_t>(usual) - static_cast<int64_t>(part->receiveWaitNs);
        const int64_t own = static_cast<int64_t>(part->gpuWaitNs);
        excesses.push_back({part, i, std::min({slow[i], spared, own})});
      }
    }
    uint64_t times = 0;
    auto byRank = [](const Part &part) { return static_cast<uint64_t>(part.rank); };
    std::optional<Excess> first = outstanding(excesses, byRank, times);
    if (!first)
      return;
    Verdict result = verdict(Fault::Gpu, *first->part);
    result.lateNs = static_cast<uint64_t>(first->ns);
    result.waitedNs = result.lateNs * (collectives_[first->collective].size() - 1);
    result.times = times;
    result.evidence = "its network waited " + microseconds(first->part->gpuWaitNs) +
                      " for its GPU, while the others waited for its data";
    verdicts.push_back(result);
  }

  const Run &run_;
  const uint64_t comm_;
  size_t numParts_ = 0;
  uint64_t period_ = 0;
  std::vector<Collective> collectives_;
  RankIndex ranks_;
};

} // namespace

const char *faultName(Fault fault) {
  switch (fault) {
  case Fault::Compute:
    return "compute";
  case Fault::Host:
    return "host";
  case Fault::Gpu:
    return "gpu";
  case Fault::Network:
    return "network";
  case Fault::Stopped:
    return "stopped";
  case Fault::Mismatch:
    return "mismatch";
  }
  return "";
}

std::optional<Verdict> diagnose(const Run &run) {
  std::vector<Verdict> verdicts;
  for (const auto &[comm, parts] : run.communicators)
    Diagnosis(run, comm, parts).find(verdicts);
  // The first verdict of a communicator; with several communicators, the one that cost most.
  std::optional<Verdict> first;
  for (const Verdict &verdict : verdicts) {
    const bool isBefore = first && verdict.comm == first->comm
                              ? verdict.seq < first->seq
                              : first && verdict.waitedNs > first->waitedNs;
    if (!first || isBefore)
      first = verdict;
  }
  return first;
}

std::string describe(const Verdict &verdict) {
  char comm[32];
  std::snprintf(comm, sizeof(comm), "%" PRIx64, verdict.comm);
  std::string text = "rank " + std::to_string(verdict.rank) + ", " + faultName(verdict.fault);
  if (verdict.peer >= 0)
    text += " (link to rank " + std::to_string(verdict.peer) + ")";
  text += ": first at collective " + std::to_string(verdict.seq) + " of communicator " + comm +
          ", " + verdict.what;
  if (!verdict.place.empty())
    text += ", " + verdict.place;
  text += "\n  evidence: " + verdict.evidence + "\n";
  if (verdict.lateNs)
    text += "  late by " + microseconds(verdict.lateNs) + "; usual is " +
            microseconds(verdict.usualNs) + "; late in " + std::to_string(verdict.times) +
            " collectives\n  in the first of them the other ranks waited for it, together " +
            microseconds(verdict.waitedNs) + "\n";
  return text;
}

} // namespace coll::trace
