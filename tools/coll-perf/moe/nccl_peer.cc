#include "tools/coll-perf/moe/nccl_peer.h"

#include "runtime/base/narrow.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>

namespace coll::perf {

using kernels::MoeRecord;
using kernels::MoeRun;
using rt::dl::CudaAddress;

namespace {

constexpr uint32_t kBlocksOfMultiprocessor = 8;

size_t at(int64_t index) { return static_cast<size_t>(index); }

// Returns true if the token has an expert on that rank.
bool goesTo(const MoeTask &task, const std::vector<int64_t> &topk, int64_t token, int rank) {
  const int64_t local = task.experts / task.ranks;
  const auto row = topk.begin() + token * task.topk;
  return std::any_of(row, row + task.topk,
                     [&](int64_t expert) { return expert >= 0 && expert / local == rank; });
}

} // namespace

Result<std::unique_ptr<NcclMoePeer>> NcclMoePeer::create(const MoeTask &task, int rank,
                                                         const rt::dl::Nccl &nccl,
                                                         const NcclRanks::Swap &swap) {
  std::unique_ptr<NcclMoePeer> peer(new NcclMoePeer(task, rank));
  COLL_RETURN_IF_ERROR(peer->open(nccl, swap));
  return peer;
}

Result<std::unique_ptr<NcclMoePeer>> NcclMoePeer::join(const MoeTask &task, Gathering &ranks) {
  Result<const rt::dl::Nccl *> nccl = rt::dl::nccl();
  Result<std::unique_ptr<NcclMoePeer>> made =
      nccl.ok() ? create(task, ranks.rank(), **nccl,
                         [&](const std::string &mine) { return ranks.swap(mine); })
                : Result<std::unique_ptr<NcclMoePeer>>(nccl.status());
  const Status agreed = ranks.agree(made.status());
  if (agreed.ok())
    return made;
  if (agreed.code() != kCollUnsupported)
    return agreed.annotate("NCCL");
  if (ranks.rank() == 0)
    std::printf("SKIPPED: NCCL: %s\n", agreed.message().c_str());
  return std::unique_ptr<NcclMoePeer>();
}

NcclMoePeer::~NcclMoePeer() {
  ranks_.reset();
  if (!stream_)
    return;
  rt::dl::CudaScope scope(room_.cuda(), room_.gpu()->context());
  if (event_)
    (void)room_.cuda().eventDestroy(event_);
  (void)room_.cuda().streamDestroy(stream_);
}

Status NcclMoePeer::open(const rt::dl::Nccl &nccl, const NcclRanks::Swap &swap) {
  COLL_RETURN_IF_ERROR(room_.open(rank_, task_.ranks));
  const int node = rank_ / task_.nodeSize();
  Result<std::unique_ptr<NcclRanks>> ranks =
      NcclRanks::create(nccl, room_.gpu(), {rank_, task_.ranks, node, task_.nodes}, swap);
  if (!ranks)
    return ranks.status();
  ranks_ = ranks.take();
  Result<rt::MoePlatform> platform = rt::moePlatform();
  if (!platform)
    return platform.status();
  platform_ = platform.take();
  rt::dl::CudaScope scope(room_.cuda(), room_.gpu()->context());
  const auto check = [&](rt::dl::CudaResult result, const char *call) {
    return room_.gpu()->check(result, call);
  };
  COLL_RETURN_IF_ERROR(
      check(room_.cuda().streamCreate(&stream_, rt::dl::kCudaStreamNonBlocking), "cuStreamCreate"));
  COLL_RETURN_IF_ERROR(
      check(room_.cuda().eventCreate(&event_, rt::dl::kCudaEventNoTiming), "cuEventCreate"));
  int multiprocessors = 0;
  COLL_RETURN_IF_ERROR(
      check(room_.cuda().deviceGetAttribute(&multiprocessors, rt::dl::kCudaMultiprocessors,
                                            room_.gpu()->ordinal()),
            "cuDeviceGetAttribute"));
  blocks_ = kBlocksOfMultiprocessor * static_cast<uint32_t>(multiprocessors);
  room_.useStream(stream_);
  return use(task_.tokens);
}

Status NcclMoePeer::use(int tokens) {
  task_.tokens = tokens;
  route();
  return fill();
}

// --- what goes where

void NcclMoePeer::route() {
  topk_ = moeTopk(task_, rank_);
  places_.assign(at(int64_t{task_.tokens} * task_.ranks), -1);
  tokens_.clear();
  going_.clear();
  coming_.clear();
  sendBegin_ = recvBegin_ = {0};
  for (int rank = 0; rank < task_.ranks; ++rank) {
    for (int32_t t = 0; t < task_.tokens; ++t)
      if (goesTo(task_, topk_, t, rank)) {
        places_[at(int64_t{t} * task_.ranks + rank)] = static_cast<int32_t>(tokens_.size());
        tokens_.push_back(t);
      }
    going_.push_back(
        static_cast<int32_t>(static_cast<int64_t>(tokens_.size()) - sendBegin_.back()));
    if (isWorstCase_) // the last one is not a real token
      tokens_.resize(at(sendBegin_.back() + task_.tokens), task_.tokens);
    sendBegin_.push_back(static_cast<int64_t>(tokens_.size()));
    const std::vector<int64_t> theirs = moeTopk(task_, rank);
    int32_t come = 0;
    for (int64_t t = 0; t < task_.tokens; ++t)
      come += goesTo(task_, theirs, t, rank_);
    coming_.push_back(come);
    recvBegin_.push_back(recvBegin_.back() + (isWorstCase_ ? task_.tokens : come));
  }
}

int64_t NcclMoePeer::numReceived() const {
  return std::accumulate(coming_.begin(), coming_.end(), int64_t{0});
}

NcclMoePeer::Cargo NcclMoePeer::cargoOf(const MoeRecord &record) const {
  Cargo cargo;
  cargo.record = record;
  cargo.out = moeRun(record, static_cast<uint32_t>(tokens_.size()));
  cargo.in = moeRun(record, static_cast<uint32_t>(placesIn()));
  const struct {
    uint64_t MoeRun::*array;
    int64_t bytes; // of a token
  } arrays[] = {{&MoeRun::rows, record.rowBytes},
                {&MoeRun::topkIdx, 8 * int64_t{record.numTopk}},
                {&MoeRun::topkWeights, 4 * int64_t{record.numTopk}},
                {&MoeRun::scales, 4 * int64_t{record.numScales}}};
  for (const auto &[array, bytes] : arrays)
    for (int rank = 0; rank < task_.ranks && bytes > 0; ++rank) {
      const auto part = [&, bytes = bytes](char *base, uint64_t place,
                                           const std::vector<int64_t> &begin,
                                           std::vector<NcclRanks::Message> &messages, bool sends) {
        const int64_t first = begin[at(rank)], count = begin[at(rank + 1)] - first;
        if (count > 0)
          messages.push_back({sends, rank, base + place + first * bytes, at(count * bytes)});
      };
      // In the low-latency mode the weights are not sent.
      if (array == &MoeRun::topkWeights && isWorstCase_)
        continue;
      part(out_, cargo.out.*array, sendBegin_, cargo.there, true);
      part(in_, cargo.in.*array, recvBegin_, cargo.there, false);
      // Experts return rows and weights, no indices.
      if (array == &MoeRun::topkIdx)
        continue;
      part(in_, cargo.in.*array, recvBegin_, cargo.back, true);
      part(out_, cargo.out.*array, sendBegin_, cargo.back, false);
    }
  return cargo;
}

Status NcclMoePeer::fill() {
  const int64_t rowBytes = int64_t{task_.hidden} * 2, tokens = task_.tokens;
  // Includes an extra token for unused places.
  std::vector<char> x(at((tokens + 1) * rowBytes)), fp8(at((tokens + 1) * task_.hidden));
  std::vector<float> scales, weights;
  std::vector<int64_t> topk = topk_;
  for (int64_t t = 0; t < tokens; ++t) {
    moeRow(task_, rank_, t, rowBytes, x.data() + t * rowBytes);
    moeRow(task_, rank_, t, task_.hidden, fp8.data() + t * task_.hidden);
    for (int i = 0; i < task_.numScales(); ++i)
      scales.push_back(moeScale(task_, rank_, t, i));
    for (int k = 0; k < task_.topk; ++k)
      weights.push_back(moeWeight(task_, rank_, t, k));
  }
  scales.resize(at((tokens + 1) * task_.numScales()));
  weights.resize(at((tokens + 1) * task_.topk));
  topk.resize(at((tokens + 1) * task_.topk), -1);
  std::vector<int32_t> counts = going_;
  counts.resize(2 * counts.size());
  Status status;
  const auto keep = [&](auto *&to, auto made) {
    if (made.ok())
      to = reinterpret_cast<std::decay_t<decltype(to)>>(*made);
    else if (status.ok())
      status = made.status();
  };
  keep(x_, room_.upload(x));
  keep(xFp8_, room_.upload(fp8));
  keep(scales_, room_.upload(scales));
  keep(weights_, room_.upload(weights));
  keep(topkOnGpu_, room_.upload(topk));
  keep(tokensOnGpu_, room_.upload(tokens_));
  keep(placesOnGpu_, room_.upload(places_));
  keep(counts_, room_.upload(counts));
  const MoeRecord full = {static_cast<uint32_t>(rowBytes), static_cast<uint32_t>(task_.topk), 0};
  // Indices are not sent if the routes are known.
  const uint32_t numTopk = isWorstCase_ ? full.numTopk : 0;
  const MoeRecord fp8Record = {static_cast<uint32_t>(task_.hidden), numTopk,
                               static_cast<uint32_t>(task_.numScales())};
  const auto most = [&](size_t count) {
    const auto n = static_cast<uint32_t>(count);
    return static_cast<int64_t>(std::max(moeRun(full, n).bytes, moeRun(fp8Record, n).bytes));
  };
  keep(out_, room_.allocate(most(tokens_.size())));
  keep(in_, room_.allocate(most(at(placesIn()))));
  keep(sums_, room_.allocate(tokens * rowBytes));
  keep(sumsOfWeights_, room_.allocate(tokens * task_.topk * 4));
  COLL_RETURN_IF_ERROR(status);
  bf16_ = cargoOf({static_cast<uint32_t>(rowBytes), numTopk, 0});
  fp8_ = cargoOf(fp8Record);
  full_ = cargoOf(full);
  Result<rt::dl::GpuMemory> pinned = rt::dl::GpuMemory::create(
      room_.gpu(), rt::dl::GpuMemory::Kind::Pinned, int64_t{task_.ranks} * 4);
  if (!pinned)
    return pinned.status();
  countsOnHost_ = pinned.take();
  return Status::okay();
}

// --- calls

Status NcclMoePeer::call(MoeCall call) {
  rt::dl::CudaScope scope(room_.cuda(), room_.gpu()->context());
  switch (call) {
  case MoeCall::Dispatch:
    COLL_RETURN_IF_ERROR(pack(bf16_, x_));
    return ranks_->exchange(bf16_.there, stream_);
  case MoeCall::DispatchFp8:
    COLL_RETURN_IF_ERROR(pack(fp8_, xFp8_));
    return ranks_->exchange(fp8_.there, stream_);
  case MoeCall::DispatchCounts:
    COLL_RETURN_IF_ERROR(pack(full_, x_));
    COLL_RETURN_IF_ERROR(swapCounts());
    return ranks_->exchange(full_.there, stream_);
  case MoeCall::Combine:
    COLL_RETURN_IF_ERROR(ranks_->exchange(full_.back, stream_));
    return unpermute();
  default:
    return Status::internal("NCCL has no such call");
  }
}

Status NcclMoePeer::pack(const Cargo &cargo, const void *x) {
  kernels::MoeGatherArgs args;
  args.record = cargo.record;
  args.tokens = tokensOnGpu_;
  args.count = static_cast<uint32_t>(tokens_.size());
  args.x = x;
  args.topkIdx = topkOnGpu_;
  args.topkWeights = weights_;
  args.scales = scales_;
  args.scaleTokenStride = task_.numScales();
  args.scaleStride = 1;
  args.to = out_;
  args.blocks = blocks_;
  return platform_.kernels.gather(args, stream_);
}

Status NcclMoePeer::swapCounts() {
  std::vector<NcclRanks::Message> messages;
  for (int rank = 0; rank < task_.ranks; ++rank) {
    messages.push_back({true, rank, counts_ + rank * 4, 4});
    messages.push_back({false, rank, counts_ + (task_.ranks + rank) * 4, 4});
  }
  COLL_RETURN_IF_ERROR(ranks_->exchange(messages, stream_));
  const size_t bytes = at(int64_t{task_.ranks} * 4);
  COLL_RETURN_IF_ERROR(room_.gpu()->check(
      room_.cuda().memcpyDtoHAsync(countsOnHost_.host(),
                                   reinterpret_cast<CudaAddress>(counts_) + bytes, bytes, stream_),
      "cuMemcpyDtoHAsync"));
  COLL_RETURN_IF_ERROR(synchronize());
  const auto *counts = reinterpret_cast<const int32_t *>(countsOnHost_.host());
  for (size_t rank = 0; rank < at(task_.ranks); ++rank)
    if (counts[rank] != coming_[rank])
      return Status::internal("NCCL delivered other counts of tokens than were sent");
  return Status::okay();
}

Status NcclMoePeer::unpermute() {
  kernels::MoeMergeArgs args;
  args.rowBytes = full_.record.rowBytes;
  args.numTopk = isWorstCase_ ? 0 : full_.record.numTopk;
  args.numTokens = static_cast<uint32_t>(task_.tokens);
  args.numNodes = static_cast<uint32_t>(task_.ranks);
  args.node = kernels::kMoeNoNode;
  args.places = placesOnGpu_;
  args.rows = out_ + full_.out.rows;
  args.weights = reinterpret_cast<const float *>(out_ + full_.out.topkWeights);
  args.out = sums_;
  args.outWeights = sumsOfWeights_;
  args.blocks = blocks_;
  return platform_.kernels.merge(args, stream_);
}

// NCCL's kernels do not give up if a rank is lost.
Status NcclMoePeer::synchronize() {
  rt::dl::CudaScope scope(room_.cuda(), room_.gpu()->context());
  COLL_RETURN_IF_ERROR(
      room_.gpu()->check(room_.cuda().eventRecord(event_, stream_), "cuEventRecord"));
  const int64_t endUs = net::nowUs() + task_.timeoutUs;
  rt::dl::CudaResult state = rt::dl::kCudaNotReady;
  while ((state = room_.cuda().eventQuery(event_)) == rt::dl::kCudaNotReady) {
    if (net::nowUs() > endUs)
      return {kCollTimeout, "NCCL's exchange has not ended"};
    std::this_thread::yield();
  }
  return room_.gpu()->check(state, "cuEventQuery");
}

// --- check

Result<int64_t> NcclMoePeer::check() {
  COLL_RETURN_IF_ERROR(call(MoeCall::DispatchFp8));
  Result<int64_t> fp8 = checkDispatched(fp8_);
  if (!fp8)
    return fp8;
  COLL_RETURN_IF_ERROR(call(isWorstCase_ ? MoeCall::Dispatch : MoeCall::DispatchCounts));
  Result<int64_t> bf16 = checkDispatched(full_);
  if (!bf16)
    return bf16;
  // The experts return their input.
  COLL_RETURN_IF_ERROR(call(MoeCall::Combine));
  Result<int64_t> sums = checkCombined();
  if (!sums)
    return sums;
  return *fp8 + *bf16 + *sums;
}

Result<int64_t> NcclMoePeer::checkDispatched(const Cargo &cargo) {
  COLL_RETURN_IF_ERROR(synchronize());
  const size_t row = cargo.record.rowBytes, numScales = cargo.record.numScales;
  const size_t numTopk = cargo.record.numTopk, count = at(placesIn());
  auto rows = room_.download<char>(in_ + cargo.in.rows, count * row);
  auto scales = room_.download<float>(in_ + cargo.in.scales, count * numScales);
  auto experts = room_.download<int64_t>(in_ + cargo.in.topkIdx, count * numTopk);
  for (const Status &status : {rows.status(), scales.status(), experts.status()})
    COLL_RETURN_IF_ERROR(status);
  const std::vector<MoeArrival> arrivals = moeArrivals(task_, rank_);
  size_t next = 0;
  int64_t wrong = 0;
  std::vector<char> expected(row);
  for (int source = 0; source < task_.ranks; ++source) {
    const std::vector<int64_t> topk = moeTopk(task_, source);
    for (size_t i = at(recvBegin_[at(source)]); i < at(recvBegin_[at(source + 1)]); ++i) {
      const auto isWrong = [&](size_t k, int64_t expert) {
        return (*experts)[i * numTopk + k] != expert;
      };
      if (next == arrivals.size() || arrivals[next].source != source) { // an unused place
        wrong += !isWorstCase_;
        for (size_t k = 0; k < numTopk; ++k)
          wrong += isWrong(k, -1);
        continue;
      }
      const int64_t token = arrivals[next++].token;
      moeRow(task_, source, token, static_cast<int64_t>(row), expected.data());
      wrong += std::memcmp(expected.data(), rows->data() + i * row, row) != 0;
      for (size_t s = 0; s < numScales; ++s)
        wrong +=
            (*scales)[i * numScales + s] != moeScale(task_, source, token, static_cast<int64_t>(s));
      for (size_t k = 0; k < numTopk; ++k)
        wrong += isWrong(k, topk[at(token * task_.topk) + k]);
    }
  }
  return wrong + static_cast<int64_t>(arrivals.size() - next);
}

Result<int64_t> NcclMoePeer::checkCombined() {
  COLL_RETURN_IF_ERROR(synchronize());
  const auto hidden = at(task_.hidden);
  auto sums = room_.download<uint16_t>(sums_, at(task_.tokens) * hidden);
  auto weights = room_.download<float>(sumsOfWeights_, topk_.size());
  COLL_RETURN_IF_ERROR(sums.status());
  COLL_RETURN_IF_ERROR(weights.status());
  std::vector<uint16_t> row(hidden);
  int64_t wrong = 0;
  for (int64_t t = 0; t < task_.tokens; ++t) {
    int copies = 0;
    for (int rank = 0; rank < task_.ranks; ++rank)
      copies += goesTo(task_, topk_, t, rank);
    moeRow(task_, rank_, t, task_.hidden * 2, reinterpret_cast<char *>(row.data()));
    for (size_t i = 0; i < hidden; ++i)
      wrong += (*sums)[at(t) * hidden + i] !=
               rt::f32ToBf16(static_cast<float>(copies) * rt::bf16ToF32(row[i]));
    for (int k = 0; k < task_.topk && !isWorstCase_; ++k) {
      float sum = 0;
      for (int i = 0; i < copies; ++i)
        sum += moeWeight(task_, rank_, t, k);
      wrong += (*weights)[at(t * task_.topk + k)] != sum;
    }
  }
  return wrong;
}

} // namespace coll::perf
