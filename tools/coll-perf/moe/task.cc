#include "tools/coll-perf/moe/task.h"

#include "runtime/exchange/moe/low_latency.h"
#include "runtime/kernels/moe/moe.h"
#include "runtime/kernels/moe/tuning.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace coll::perf {

namespace {

constexpr int kMost = 1 << 20; // tokens, and values of one

// splitmix64, whose output bits depend on all input bits.
uint64_t mixed(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

uint64_t placeOf(const MoeTask &task, int rank, int64_t token, uint64_t i) {
  return mixed((uint64_t{task.seed} << 40 | static_cast<uint64_t>(rank) << 32) +
               static_cast<uint64_t>(token)) +
         i;
}

Status refuse(const char *flag, int value, const std::string &what) {
  return Status::invalid(std::string("moe: ") + flag + " is " + std::to_string(value) +
                         "; it has to be " + what);
}

float fraction(uint64_t bits) { return static_cast<float>(mixed(bits) >> 40) / (1 << 24); }

} // namespace

const char *nameOf(MoeCall call) {
  switch (call) {
  case MoeCall::Layout:
    return "layout";
  case MoeCall::Dispatch:
    return "dispatch bf16";
  case MoeCall::DispatchCounts:
    return "dispatch bf16 + counts";
  case MoeCall::DispatchFp8:
    return "dispatch fp8";
  case MoeCall::Combine:
    return "combine bf16";
  case MoeCall::CombineCopied:
    return "combine bf16, rows copied";
  }
  return "?";
}

const char *nameOf(MoeSkew skew) {
  switch (skew) {
  case MoeSkew::Uniform:
    return "uniform";
  case MoeSkew::Few:
    return "few";
  case MoeSkew::One:
    return "one";
  }
  return "?";
}

std::string MoeTask::routes() const {
  return ", top-" + std::to_string(topk) + " of " + std::to_string(experts) +
         (skew == MoeSkew::Few   ? ", skewed to few experts"
          : skew == MoeSkew::One ? ", all to one expert"
                                 : "");
}

Status MoeTask::validate() const {
  if (ranks < 1 || ranks > rt::kMoeNodeRanks)
    return refuse("--ranks", ranks, "from 1 to 8");
  if (nodes < 1 || ranks % nodes)
    return refuse("--nodes", nodes, "a divisor of the " + std::to_string(ranks) + " ranks");
  if (tokens < 1 || tokens > kMost)
    return refuse("--tokens", tokens, "from 1 to " + std::to_string(kMost));
  if (hidden < 16 || hidden % 16 || hidden > kMost)
    return refuse("--hidden", hidden, "a multiple of 16, up to " + std::to_string(kMost));
  const int most = static_cast<int>(kernels::MoeCounters::kMaxExperts) * ranks;
  if (experts < 1 || experts % ranks || experts > most)
    return refuse("--experts", experts,
                  "a multiple of the ranks, which are " + std::to_string(ranks) + ", up to " +
                      std::to_string(most));
  const int mostTopk = std::min(rt::kMoeMaxTopk, experts);
  if (topk < 1 || topk > mostTopk)
    return refuse("--topk", topk,
                  "from 1 to " + std::to_string(mostTopk) +
                      (mostTopk == experts ? ", the number of --experts" : ""));
  COLL_RETURN_IF_ERROR(checkRange("-n", iterations, 1, 1e9));
  COLL_RETURN_IF_ERROR(checkRange("-w", warmup, 0, 1e9));
  COLL_RETURN_IF_ERROR(checkRange("--repeat", repeat, 1, 1e9));
  if (!lowLatencyTokens.empty())
    return validateLowLatency();
  for (int count : sms) {
    rt::MoeConfig config;
    config.numSms = count;
    COLL_RETURN_IF_ERROR(checkMoeConfig(config).annotate("--sms"));
  }
  return Status::okay();
}

Status MoeTask::validateLowLatency() const {
  for (int count : lowLatencyTokens)
    if (count < 1)
      return refuse("--tokens", count, "from 1 to 1024 with --low-latency");
  for (int count : sms)
    if (count < 0 || count > static_cast<int>(kernels::kLowLatencyMaxBlocks))
      return refuse("--sms", count,
                    "up to " + std::to_string(kernels::kLowLatencyMaxBlocks) +
                        " with --low-latency; 0 is the default");
  return rt::checkMoeShape({tokens, hidden, topk, experts}, ranks);
}

std::vector<int64_t> moeTopk(const MoeTask &task, int rank) {
  std::mt19937 random(task.seed * 64 + static_cast<uint32_t>(rank));
  std::vector<int64_t> all(static_cast<size_t>(task.experts));
  std::iota(all.begin(), all.end(), 0);
  std::vector<int64_t> topk;
  if (task.skew == MoeSkew::One) {
    topk.assign(static_cast<size_t>(task.tokens) * static_cast<size_t>(task.topk), -1);
    for (size_t i = 0; i < topk.size(); i += static_cast<size_t>(task.topk))
      topk[i] = 0;
    return topk;
  }
  const auto few = static_cast<size_t>(std::max(task.topk, task.experts / 16));
  for (int t = 0; t < task.tokens; ++t) {
    const bool isOfFew = task.skew == MoeSkew::Few && random() % 4 != 0;
    if (isOfFew)
      std::iota(all.begin(), all.end(), 0);
    const size_t among = isOfFew ? few : all.size();
    for (size_t k = 0; k < static_cast<size_t>(task.topk); ++k) {
      std::swap(all[k], all[k + random() % (among - k)]);
      topk.push_back(all[k]);
    }
  }
  return topk;
}

float moeWeight(const MoeTask &task, int rank, int64_t token, int k) {
  return fraction(placeOf(task, rank, token, 0x1000000u + static_cast<uint64_t>(k)));
}

float moeScale(const MoeTask &task, int rank, int64_t token, int64_t i) {
  return fraction(placeOf(task, rank, token, 0x2000000u + static_cast<uint64_t>(i)));
}

void moeRow(const MoeTask &task, int rank, int64_t token, int64_t rowBytes, char *to) {
  const uint64_t first = placeOf(task, rank, token, 0);
  for (int64_t i = 0; i < rowBytes; i += 8) {
    // Exponents around that of 1: signs and mantissas are random.
    const uint64_t bits =
        (mixed(first + static_cast<uint64_t>(i)) & 0x80ff80ff80ff80ffu) | 0x3f003f003f003f00u;
    std::memcpy(to + i, &bits, 8);
  }
}

std::vector<MoeArrival> moeArrivals(const MoeTask &task, int rank) {
  std::vector<MoeArrival> arrivals;
  const int64_t local = task.experts / task.ranks;
  for (int source = 0; source < task.ranks; ++source) {
    const std::vector<int64_t> topk = moeTopk(task, source);
    for (int64_t t = 0; t < task.tokens; ++t) {
      const auto row = topk.begin() + t * task.topk;
      if (std::any_of(row, row + task.topk, [&](int64_t e) { return e >= 0 && e / local == rank; }))
        arrivals.push_back({source, t});
    }
  }
  return arrivals;
}

} // namespace coll::perf
