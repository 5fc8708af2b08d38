#include "tools/coll-perf/moe/low_latency_calls.h"

#include "runtime/base/narrow.h"
#include "runtime/exchange/moe/low_latency_reference.h"

#include <cmath>
#include <cstring>

namespace coll::perf {

namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

template <typename T>
Status take(GpuRoom &room, T *&to, int64_t bytes) {
  Result<char *> made = room.allocate(bytes);
  if (!made)
    return made.status();
  to = static_cast<T *>(static_cast<void *>(*made));
  return Status::okay();
}

template <typename T>
Status put(GpuRoom &room, const T *&to, const std::vector<T> &values) {
  Result<T *> made = room.upload(values);
  if (!made)
    return made.status();
  to = *made;
  return Status::okay();
}

} // namespace

const std::vector<LowLatencyPair> &lowLatencyPairs() {
  static const std::vector<LowLatencyPair> pairs = {
      {"dispatch bf16", {true, true}, false, false, false},
      {"combine bf16", {false, false}, false, false, false},
      {"combine log", {false, false}, false, true, false},
      {"dispatch fp8", {true, true}, true, false, false},
      {"dispatch fp8 + combine bf16", {true, false}, true, false, false},
      {"the same with hooks", {true, false}, true, false, true},
  };
  return pairs;
}

Result<std::unique_ptr<LowLatencyCalls>> LowLatencyCalls::create(const MoeTask &task, int rank,
                                                                 net::Transport *transport) {
  std::unique_ptr<LowLatencyCalls> calls(new LowLatencyCalls(task, rank));
  COLL_RETURN_IF_ERROR(calls->open(transport));
  COLL_RETURN_IF_ERROR(calls->fill());
  return calls;
}

Status LowLatencyCalls::open(net::Transport *transport) {
  COLL_RETURN_IF_ERROR(room_.open(rank_, task_.ranks));
  shape_ = {task_.tokens, task_.hidden, task_.topk, task_.experts};
  rt::MoeBufferOptions options;
  options.rank = rank_;
  options.numRanks = task_.ranks;
  options.device = room_.gpu()->ordinal();
  options.lowLatency = true;
  options.lowLatencyShape = shape_;
  options.timeoutUs = task_.timeoutUs;
  options.nodeSize = task_.nodeSize();
  options.transport = transport;
  Result<std::unique_ptr<rt::MoeBuffer>> buffer = rt::MoeBuffer::create(options);
  if (!buffer)
    return buffer.status();
  buffer_ = buffer.take();
  order_.compute = buffer_->commStream();
  room_.useStream(order_.compute);
  return Status::okay();
}

Status LowLatencyCalls::fill() {
  for (int r = 0; r < task_.ranks; ++r)
    topk_.push_back(moeTopk(task_, r));
  const int64_t rowBytes = int64_t{task_.hidden} * 2;
  std::vector<char> bf16(at(task_.tokens * rowBytes));
  std::vector<float> weights;
  for (int64_t t = 0; t < task_.tokens; ++t) {
    moeRow(task_, rank_, t, rowBytes, bf16.data() + t * rowBytes);
    for (int k = 0; k < task_.topk; ++k)
      weights.push_back(moeWeight(task_, rank_, t, k));
  }
  const char *x = nullptr;
  COLL_RETURN_IF_ERROR(put(room_, x, bf16));
  COLL_RETURN_IF_ERROR(put(room_, combine_.topkWeights, weights));
  COLL_RETURN_IF_ERROR(put(room_, dispatch_.routing.topkIdx, topk_[at(rank_)]));
  dispatch_.x = x;
  dispatch_.routing.numTopk = task_.topk;
  dispatch_.routing.numExperts = task_.experts;
  combine_.routing = dispatch_.routing;
  use(task_.tokens);
  const int64_t local = task_.experts / task_.ranks;
  const int64_t rows = local * shape_.rowsOfExpert(task_.ranks);
  COLL_RETURN_IF_ERROR(take(room_, rows_.x, rows * rowBytes));
  COLL_RETURN_IF_ERROR(take(room_, rows_.scales, rows * shape_.numScales() * 4));
  COLL_RETURN_IF_ERROR(take(room_, rows_.counts, local * 4));
  COLL_RETURN_IF_ERROR(take(room_, rows_.ranges, local * task_.ranks * 8));
  COLL_RETURN_IF_ERROR(take(room_, rows_.sources, rows * 4));
  COLL_RETURN_IF_ERROR(put(room_, const_cast<const int32_t *&>(dispatch_.expertTokens),
                           std::vector<int32_t>(at(local))));
  // The experts return their input.
  combine_.x = rows_.x;
  return take(room_, combine_.out, task_.tokens * rowBytes);
}

Status LowLatencyCalls::call(const LowLatencyPair &pair, int which, int sms) {
  rt::MoeHook hook;
  rt::MoeHook *hooked = pair.hooked ? &hook : nullptr;
  dispatch_.dtype = pair.fp8 ? kCollF8E4M3FN : kCollBf16;
  combine_.log = pair.log;
  dispatch_.numSms = combine_.numSms = sms;
  COLL_RETURN_IF_ERROR(pair.isDispatch[at(which)]
                           ? buffer_->lowLatencyDispatch(dispatch_, rows_, order_, hooked)
                           : buffer_->lowLatencyCombine(combine_, rows_, order_, hooked));
  return hooked ? buffer_->lowLatencyReceive(hook, order_) : Status::okay();
}

Status LowLatencyCalls::synchronize() {
  COLL_RETURN_IF_ERROR(room_.wait());
  return buffer_->isAvailable() ? buffer_->check() : Status::okay();
}

Result<int64_t> LowLatencyCalls::numReceived() {
  auto counts = room_.download<int32_t>(rows_.counts, at(task_.experts / task_.ranks));
  if (!counts)
    return counts.status();
  int64_t sum = 0;
  for (int32_t count : *counts)
    sum += count;
  return sum;
}

//===-- checks ------------------------------------------------------------------===//

Result<int64_t> LowLatencyCalls::check(int sms) {
  int64_t wrong = 0;
  const auto add = [&](const Result<int64_t> &more) {
    wrong += more.ok() ? *more : 0;
    return more.status();
  };
  const auto play = [&](bool dispatches, bool fp8, bool log, bool hooked) {
    const LowLatencyPair pair = {"a check", {dispatches, dispatches}, fp8, log, hooked};
    COLL_RETURN_IF_ERROR(call(pair, 0, sms));
    return synchronize();
  };
  // The number of calls in all must be even.
  for (bool hooked : {false, true})
    for (bool fp8 : {true, false}) {
      COLL_RETURN_IF_ERROR(play(true, fp8, false, hooked));
      COLL_RETURN_IF_ERROR(add(checkReceived(fp8)));
    }
  for (bool log : {false, true}) {
    COLL_RETURN_IF_ERROR(play(false, false, log, log));
    COLL_RETURN_IF_ERROR(add(checkCombined(log)));
  }
  return wrong;
}

Result<int64_t> LowLatencyCalls::checkReceived(bool fp8) {
  const int64_t local = task_.experts / task_.ranks, room = shape_.rowsOfExpert(task_.ranks);
  const int64_t rowBytes = int64_t{task_.hidden} * (fp8 ? 1 : 2), scales = shape_.numScales();
  auto counts = room_.download<int32_t>(rows_.counts, at(local));
  COLL_RETURN_IF_ERROR(counts.status());
  int64_t wrong = 0;
  for (int64_t e = 0; e < local; ++e) {
    const size_t count = at(std::min<int64_t>((*counts)[at(e)], room));
    auto x = room_.download<char>(static_cast<char *>(rows_.x) + e * room * rowBytes,
                                  count * at(rowBytes));
    auto sources = room_.download<uint32_t>(rows_.sources + e * room, count);
    auto factors = room_.download<float>(rows_.scales + e * room * scales, count * at(scales));
    for (const Status &status : {x.status(), sources.status(), factors.status()})
      COLL_RETURN_IF_ERROR(status);
    size_t row = 0;
    for (int source = 0; source < task_.ranks; ++source)
      for (int64_t i = 0; i < numTokens() * task_.topk; ++i) {
        if (topk_[at(source)][at(i)] != rank_ * local + e)
          continue;
        const int64_t token = i / task_.topk;
        wrong += row >= count || (*sources)[row] != (static_cast<uint32_t>(i % task_.topk) << 16 |
                                                     static_cast<uint32_t>(token));
        if (row < count)
          wrong += checkRow(x->data() + row * at(rowBytes), factors->data() + row * at(scales), fp8,
                            source, token);
        ++row;
      }
    wrong += row != count;
  }
  return wrong;
}

int64_t LowLatencyCalls::checkRow(const char *x, const float *scales, bool fp8, int source,
                                  int64_t token) const {
  const size_t hidden = at(task_.hidden), groups = at(shape_.numScales());
  std::vector<uint16_t> row(hidden);
  moeRow(task_, source, token, task_.hidden * 2, reinterpret_cast<char *>(row.data()));
  if (!fp8)
    return std::memcmp(x, row.data(), hidden * 2) != 0;
  std::vector<char> values(hidden);
  std::vector<float> factors(groups);
  rt::moeToFp8(row.data(), task_.hidden, values.data(), factors.data());
  return std::memcmp(x, values.data(), hidden) != 0 ||
         std::memcmp(scales, factors.data(), groups * sizeof(float)) != 0;
}

Result<int64_t> LowLatencyCalls::checkCombined(bool log) {
  const auto hidden = at(task_.hidden);
  auto out = room_.download<uint16_t>(combine_.out, at(numTokens()) * hidden);
  COLL_RETURN_IF_ERROR(out.status());
  std::vector<uint16_t> row(hidden);
  int64_t wrong = 0;
  for (int64_t t = 0; t < numTokens(); ++t) {
    moeRow(task_, rank_, t, task_.hidden * 2, reinterpret_cast<char *>(row.data()));
    for (size_t i = 0; i < hidden; ++i) {
      float sum = 0;
      for (int k = 0; k < task_.topk; ++k)
        if (topk_[at(rank_)][at(t * task_.topk + k)] >= 0)
          sum = std::fma(moeWeight(task_, rank_, t, k), rt::bf16ToF32(row[i]), sum);
      const float got = rt::bf16ToF32((*out)[at(t) * hidden + i]);
      // The tolerance of the log format is half a step of the two octaves of these values, and the
      // rounding of bf16.
      wrong += log ? !(std::fabs(got - sum) <= 0.01f * std::fabs(sum))
                   : (*out)[at(t) * hidden + i] != rt::f32ToBf16(sum);
    }
  }
  return wrong;
}

} // namespace coll::perf
