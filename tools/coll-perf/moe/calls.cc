#include "tools/coll-perf/moe/calls.h"

#include "runtime/base/narrow.h"

#include <algorithm>
#include <cstring>

namespace coll::perf {

namespace {

int64_t bf16Bytes(const MoeTask &task) { return int64_t{task.hidden} * 2; }

// Each half of the buffer has room for all tokens of all ranks.
int64_t bufferBytes(const MoeTask &task) {
  kernels::MoeShape shape;
  shape.rowBytes = static_cast<uint32_t>(bf16Bytes(task));
  shape.numScales = static_cast<uint32_t>(task.numScales());
  shape.numTopk = static_cast<uint32_t>(task.topk);
  shape.capacity = static_cast<uint32_t>(task.tokens * task.ranks) + 1;
  return 2 * static_cast<int64_t>(kernels::moeArea(shape).bytes);
}

// Room for all tokens of a rank's counterparts, the sums of its own tokens, and tables.
int64_t netBytes(const MoeTask &task) {
  if (task.nodes == 1)
    return 0;
  const int64_t beside = 16 * int64_t{task.topk} + 4 * int64_t{task.numScales()} +
                         4 * (task.nodeSize() + int64_t{task.nodes} + 2);
  const int64_t rows = 2 * int64_t{task.tokens} * task.nodes;
  return (rows * (bf16Bytes(task) + beside) + 64 * 1024) / 128 * 128;
}

} // namespace

Result<std::unique_ptr<MoeCalls>> MoeCalls::create(const MoeTask &task, int rank,
                                                   net::Transport *transport) {
  std::unique_ptr<MoeCalls> calls(new MoeCalls(task, rank, transport));
  COLL_RETURN_IF_ERROR(calls->open());
  COLL_RETURN_IF_ERROR(calls->fill());
  return calls;
}

Status MoeCalls::open() {
  COLL_RETURN_IF_ERROR(room_.open(rank_, task_.ranks));
  rt::MoeBufferOptions options;
  options.rank = rank_;
  options.numRanks = task_.ranks;
  options.device = room_.gpu()->ordinal();
  options.nvlBytes = (bufferBytes(task_) + 1023) / 1024 * 1024;
  options.timeoutUs = task_.timeoutUs;
  options.nodeSize = task_.nodes > 1 ? task_.nodeSize() : rt::kMoeNodeRanks;
  options.netBytes = netBytes(task_);
  options.transport = transport_;
  Result<std::unique_ptr<rt::MoeBuffer>> buffer = rt::MoeBuffer::create(options);
  if (!buffer)
    return buffer.status();
  buffer_ = buffer.take();
  order_.compute = buffer_->commStream();
  room_.useStream(order_.compute);
  return Status::okay();
}

#define COLL_PERF_TAKE(target, expression)                                                         \
  do {                                                                                             \
    auto taken_ = (expression);                                                                    \
    if (!taken_)                                                                                   \
      return taken_.status();                                                                      \
    target = *taken_;                                                                              \
  } while (false)

Status MoeCalls::fill() {
  const int64_t tokens = task_.tokens, most = tokens * task_.ranks;
  topk_ = moeTopk(task_, rank_);
  std::vector<float> weights, scales;
  std::vector<char> bf16(static_cast<size_t>(tokens * bf16Bytes(task_)));
  for (int64_t t = 0; t < tokens; ++t) {
    for (int k = 0; k < task_.topk; ++k)
      weights.push_back(moeWeight(task_, rank_, t, k));
    for (int i = 0; i < task_.numScales(); ++i)
      scales.push_back(moeScale(task_, rank_, t, i));
    moeRow(task_, rank_, t, bf16Bytes(task_), bf16.data() + t * bf16Bytes(task_));
  }
  COLL_PERF_TAKE(tokens_.x, room_.upload(bf16));
  std::vector<char> fp8(static_cast<size_t>(tokens * task_.hidden));
  for (int64_t t = 0; t < tokens; ++t)
    moeRow(task_, rank_, t, task_.hidden, fp8.data() + t * task_.hidden);
  COLL_PERF_TAKE(fp8_.x, room_.upload(fp8));
  COLL_PERF_TAKE(fp8_.scales, room_.upload(scales));
  COLL_PERF_TAKE(tokens_.topkWeights, room_.upload(weights));
  COLL_PERF_TAKE(routing_.topkIdx, room_.upload(topk_));
  tokens_.hidden = fp8_.hidden = task_.hidden;
  fp8_.dtype = kCollF8E4M3FN;
  fp8_.numScales = fp8_.scaleTokenStride = task_.numScales();
  fp8_.scaleStride = 1;
  routing_.numTokens = tokens;
  routing_.numTopk = task_.topk;
  routing_.numExperts = task_.experts;
  const auto take = [&](auto *&to, int64_t bytes) -> Status {
    Result<char *> made = room_.allocate(bytes);
    if (!made)
      return made.status();
    to = reinterpret_cast<std::decay_t<decltype(to)>>(*made);
    return Status::okay();
  };
  rt::MoeConfig largest;
  largest.numSms = *std::max_element(task_.sms.begin(), task_.sms.end());
  const int64_t handleBytes = rt::MoeBuffer::handleBytes(tokens, task_.ranks, largest);
  COLL_RETURN_IF_ERROR(take(layout_.tokensPerRank, task_.ranks * 4));
  COLL_RETURN_IF_ERROR(take(layout_.tokensPerExpert, int64_t{task_.experts} * 4));
  COLL_RETURN_IF_ERROR(take(layout_.isTokenInRank, tokens * task_.ranks));
  COLL_PERF_TAKE(handleMemory_, room_.allocate(handleBytes));
  COLL_PERF_TAKE(countedMemory_, room_.allocate(handleBytes));
  COLL_RETURN_IF_ERROR(take(rows_, most * bf16Bytes(task_)));
  COLL_RETURN_IF_ERROR(take(weights_, most * task_.topk * 4));
  COLL_RETURN_IF_ERROR(take(out_, tokens * bf16Bytes(task_)));
  return take(outWeights_, tokens * task_.topk * 4);
}

Status MoeCalls::synchronize() {
  COLL_RETURN_IF_ERROR(room_.wait());
  return buffer_->isAvailable() ? buffer_->check() : Status::okay();
}

Status MoeCalls::begin(const rt::MoeConfig &config) {
  COLL_RETURN_IF_ERROR(buffer_->dispatchLayout(routing_, layout_, order_));
  rt::MoeDispatchOptions options;
  options.config = config;
  Result<rt::MoeReceived> received =
      buffer_->dispatch(tokens_, routing_, layout_, options, handleMemory_, order_);
  if (!received)
    return received.status();
  handle_ = received->handle;
  perExpert_ = received->tokensPerExpert;
  return synchronize();
}

rt::MoeCombine MoeCalls::combineOf(const void *rows) const {
  rt::MoeCombine combine;
  combine.x = rows;
  combine.numRows = handle_.numRecv;
  combine.hidden = task_.hidden;
  combine.topkWeights = weights_;
  combine.numTopk = task_.topk;
  combine.out = out_;
  combine.outWeights = outWeights_;
  return combine;
}

Status MoeCalls::call(MoeCall call, const rt::MoeConfig &config) {
  rt::MoeDispatchOptions options;
  options.config = config;
  options.worstCaseTokens = int64_t{task_.tokens} * task_.ranks;
  switch (call) {
  case MoeCall::Layout:
    return buffer_->dispatchLayout(routing_, layout_, order_);
  case MoeCall::Dispatch:
    return buffer_->dispatchAgain(tokens_, handle_, config, order_).status();
  case MoeCall::DispatchCounts:
    return buffer_->dispatch(tokens_, routing_, layout_, options, countedMemory_, order_).status();
  case MoeCall::DispatchFp8:
    return buffer_->dispatchAgain(fp8_, handle_, config, order_).status();
  case MoeCall::Combine:
    return buffer_->combine(combineOf(buffer_->combineInput()), handle_, config, order_);
  case MoeCall::CombineCopied:
    return buffer_->combine(combineOf(rows_), handle_, config, order_);
  }
  return Status::internal("no such call");
}

Result<int64_t> MoeCalls::check(const rt::MoeConfig &config) {
  COLL_RETURN_IF_ERROR(buffer_->dispatchLayout(routing_, layout_, order_));
  rt::MoeDispatchOptions options;
  options.config = config;
  auto received = buffer_->dispatch(fp8_, routing_, layout_, options, countedMemory_, order_);
  if (!received)
    return received.status();
  Result<int64_t> wrong = checkReceived(*received, task_.hidden, /*isFp8=*/true);
  if (!wrong)
    return wrong;
  received = buffer_->dispatch(tokens_, routing_, layout_, options, countedMemory_, order_);
  if (!received)
    return received.status();
  Result<int64_t> more = checkReceived(*received, bf16Bytes(task_), /*isFp8=*/false);
  if (!more)
    return more;
  // The experts return their input.
  rt::MoeCombine combine = combineOf(received->x);
  combine.topkWeights = received->topkWeights;
  COLL_RETURN_IF_ERROR(buffer_->combine(combine, received->handle, config, order_));
  Result<int64_t> sums = checkCombined();
  if (!sums)
    return sums;
  return *wrong + *more + *sums;
}

Result<int64_t> MoeCalls::checkReceived(const rt::MoeReceived &received, int64_t rowBytes,
                                        bool isFp8) {
  COLL_RETURN_IF_ERROR(synchronize());
  const std::vector<MoeArrival> arrivals = moeArrivals(task_, rank_);
  if (received.handle.numRecv != static_cast<int64_t>(arrivals.size()))
    return static_cast<int64_t>(arrivals.size());
  const size_t count = arrivals.size(), row = static_cast<size_t>(rowBytes);
  auto rows = room_.download<char>(received.x, count * row);
  auto sources = room_.download<int32_t>(received.handle.recvSourceIdx, count);
  auto experts = room_.download<int64_t>(received.topkIdx, count * static_cast<size_t>(task_.topk));
  const auto numScales = static_cast<size_t>(isFp8 ? task_.numScales() : 0);
  auto scales =
      room_.download<float>(isFp8 ? received.scales : received.topkWeights, count * numScales);
  for (const Status &status : {rows.status(), sources.status(), experts.status(), scales.status()})
    COLL_RETURN_IF_ERROR(status);
  int64_t wrong = 0;
  std::vector<char> expected(row);
  std::vector<int64_t> topk;
  const int64_t local = task_.experts / task_.ranks;
  for (size_t i = 0; i < count; ++i) {
    const MoeArrival &from = arrivals[i];
    if (i == 0 || from.source != arrivals[i - 1].source)
      topk = moeTopk(task_, from.source);
    moeRow(task_, from.source, from.token, rowBytes, expected.data());
    wrong += std::memcmp(expected.data(), rows->data() + i * row, row) != 0;
    wrong += (*sources)[i] != from.token;
    for (size_t k = 0; k < static_cast<size_t>(task_.topk); ++k) {
      const int64_t e = topk[static_cast<size_t>(from.token * task_.topk) + k] - rank_ * local;
      wrong +=
          (*experts)[i * static_cast<size_t>(task_.topk) + k] != (e >= 0 && e < local ? e : -1);
    }
    for (size_t s = 0; s < numScales; ++s)
      wrong += (*scales)[i * numScales + s] !=
               moeScale(task_, from.source, from.token, static_cast<int64_t>(s));
  }
  return wrong;
}

Result<int64_t> MoeCalls::checkCombined() {
  COLL_RETURN_IF_ERROR(synchronize());
  const auto hidden = static_cast<size_t>(task_.hidden);
  auto out = room_.download<uint16_t>(out_, static_cast<size_t>(task_.tokens) * hidden);
  auto weights = room_.download<float>(outWeights_, topk_.size());
  COLL_RETURN_IF_ERROR(out.status());
  COLL_RETURN_IF_ERROR(weights.status());
  const int64_t local = task_.experts / task_.ranks;
  std::vector<uint16_t> row(hidden);
  int64_t wrong = 0;
  for (int64_t t = 0; t < task_.tokens; ++t) {
    uint32_t ranks = 0;
    for (int k = 0; k < task_.topk; ++k) {
      const auto at = static_cast<size_t>(t * task_.topk + k);
      const bool goes = topk_[at] >= 0;
      if (goes)
        ranks |= 1u << (topk_[at] / local);
      wrong += (*weights)[at] != (goes ? moeWeight(task_, rank_, t, k) : 0);
    }
    std::vector<float> copies(static_cast<size_t>(task_.nodes)); // rows that a node adds up
    for (int r = 0; r < task_.ranks; ++r)
      copies[static_cast<size_t>(r / task_.nodeSize())] += static_cast<float>(ranks >> r & 1u);
    moeRow(task_, rank_, t, bf16Bytes(task_), reinterpret_cast<char *>(row.data()));
    for (size_t i = 0; i < hidden; ++i) {
      float sum = 0;
      for (float count : copies)
        sum += rt::bf16ToF32(rt::f32ToBf16(count * rt::bf16ToF32(row[i])));
      wrong += (*out)[static_cast<size_t>(t) * hidden + i] != rt::f32ToBf16(sum);
    }
  }
  return wrong;
}

} // namespace coll::perf
