#include "runtime/kernels/moe/moe.h"

#include "runtime/kernels/moe/plan.h"
#include "runtime/kernels/moe/scratch.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint32_t kVec = 16;
constexpr uint64_t kAreaAlignment = 512;
constexpr uint32_t kMaxTokens = INT32_MAX / 2;

Status refuse(const std::string &why) { return Status::invalid("moe: " + why); }
Status refuse(const PeerGroup &group, const std::string &why) {
  return refuse(why + " (member " + std::to_string(group.rank) + ")");
}

bool isVector(const void *address) {
  return address && reinterpret_cast<uintptr_t>(address) % kVec == 0;
}

uint64_t roundUp(uint64_t bytes) {
  return (bytes + kAreaAlignment - 1) / kAreaAlignment * kAreaAlignment;
}

Status checkThreads(uint32_t threads, uint32_t most) {
  if (threads % moe::kWarp || threads > most)
    return refuse("threads of a block are a multiple of 32 up to " + std::to_string(most));
  return Status::okay();
}

Status checkGrid(const PeerGroup &group, const MoeGrid &grid) {
  const uint32_t blocks = grid.blocks ? grid.blocks : kMoeBlocks;
  if (blocks > group.layout.ringBlocks)
    return refuse(group, std::to_string(blocks) + " blocks in a workspace for " +
                             std::to_string(group.layout.ringBlocks));
  return checkThreads(grid.threads, kMoeThreads);
}

Status checkRows(const PeerGroup &group, uint32_t rowBytes, uint32_t numTokens,
                 const int32_t *rankPrefix, const int32_t *sendHead) {
  if (rowBytes == 0 || rowBytes % kVec)
    return refuse(group, "a row has " + std::to_string(rowBytes) +
                             " bytes; it has to be a multiple of 16");
  if (numTokens > kMaxTokens)
    return refuse(group, std::to_string(numTokens) + " tokens");
  if (!rankPrefix || (numTokens > 0 && !sendHead))
    return refuse(group, "`rankPrefix` or `sendHead` is null");
  return Status::okay();
}

// A hash of the values that members have to agree on.
uint32_t numberOf(std::initializer_list<uint32_t> words) {
  uint32_t hash = 2166136261u;
  for (uint32_t word : words)
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ (word >> shift & 0xffu)) * 16777619u;
  return hash;
}
enum Kind : uint32_t { kNotify = 0x6d6f6501u, kDispatch, kCombine };

MoeGrid filled(const MoeGrid &grid) {
  return {grid.blocks ? grid.blocks : kMoeBlocks, grid.threads ? grid.threads : kMoeThreads};
}

} // namespace

MoeArea moeArea(const MoeShape &shape) {
  const uint64_t rows = shape.capacity;
  MoeArea area = {};
  area.rows = 0;
  area.scales = roundUp(rows * shape.rowBytes);
  area.topkIdx = area.scales + roundUp(rows * shape.numScales * sizeof(float));
  area.topkWeights = area.topkIdx + roundUp(rows * shape.numTopk * sizeof(int64_t));
  area.sourceIdx = area.topkWeights + roundUp(rows * shape.numTopk * sizeof(float));
  area.bytes = area.sourceIdx + roundUp(rows * sizeof(int32_t));
  return area;
}

uint32_t moeCapacity(MoeShape shape, uint64_t bytes) {
  const uint64_t row = shape.rowBytes + shape.numScales * sizeof(float) +
                       shape.numTopk * (sizeof(int64_t) + sizeof(float)) + sizeof(int32_t);
  shape.capacity = static_cast<uint32_t>(std::min<uint64_t>(bytes / row, kMaxTokens));
  // The alignment costs few rows, so the loop has few steps.
  while (shape.capacity > 0 && moeArea(shape).bytes > bytes)
    --shape.capacity;
  return shape.capacity;
}

Status checkMoeLayout(const MoeLayoutArgs &args) {
  if (args.numRanks == 0 || args.numRanks > kMaxPeers || args.numExperts == 0 ||
      args.numExperts % args.numRanks)
    return refuse(std::to_string(args.numExperts) + " experts of " + std::to_string(args.numRanks) +
                  " ranks");
  if (args.numTopk == 0 || args.numTopk > kMoeTopk || args.numTokens > kMaxTokens)
    return refuse(std::to_string(args.numTokens) + " tokens with " + std::to_string(args.numTopk) +
                  " experts each");
  if ((args.rankStride > 0 && args.rankStride < args.numRanks) ||
      (args.firstExpert > 0 && args.allExperts < uint64_t{args.firstExpert} + args.numExperts))
    return refuse("the layout of " + std::to_string(args.numRanks) + " ranks from expert " +
                  std::to_string(args.firstExpert) + " of " + std::to_string(args.allExperts));
  if (!args.tokensPerRank || !args.tokensPerExpert || !args.error ||
      (args.numTokens > 0 && (!args.topkIdx || !args.isTokenInRank)))
    return refuse("a pointer of the layout is null");
  return checkThreads(args.threads, kMoeCountThreads);
}

Status checkMoeNotify(const PeerGroup &group, const MoeNotifyArgs &args) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  if (args.numExperts == 0 || args.numExperts % group.size)
    return refuse(group, std::to_string(args.numExperts) + " experts of " +
                             std::to_string(group.size) + " ranks");
  const uint32_t local = args.numExperts / group.size;
  if (local > MoeCounters::kMaxExperts ||
      (local + group.size) * sizeof(uint32_t) > group.layout.slotBytes)
    return refuse(group, std::to_string(local) + " experts on a rank");
  if (args.numTokens > kMaxTokens || args.numChannels == 0 || args.expertAlignment == 0 ||
      args.capacity > kMaxTokens)
    return refuse(group, "a number of the notification is out of range");
  if (!args.tokensPerRank || !args.tokensPerExpert || !args.rankPrefix || !args.channelPrefix ||
      (args.numTokens > 0 && (!args.isTokenInRank || !args.sendHead)))
    return refuse(group, "a pointer of the notification is null");
  return checkThreads(args.threads, kMoeNotifyThreads);
}

Status checkMoeDispatch(const PeerGroup &group, const MoeDispatchArgs &args) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  const MoeShape &shape = args.shape;
  COLL_RETURN_IF_ERROR(
      checkRows(group, shape.rowBytes, args.numTokens, args.rankPrefix, args.sendHead));
  if (shape.capacity > kMaxTokens || shape.numTopk > kMoeTopk)
    return refuse(group, "a number of the shape is out of range");
  if (args.topkIdx && (shape.numExperts == 0 || shape.numExperts % group.size))
    return refuse(group, std::to_string(shape.numExperts) + " experts of " +
                             std::to_string(group.size) + " ranks");
  if (args.numTokens > 0 && !isVector(args.x))
    return refuse(group, "`x` is null or not aligned to 16 bytes");
  if (args.numTokens > 0 && shape.numScales > 0 && !args.scales)
    return refuse(group, "`scales` is null");
  for (uint32_t r = 0; r < group.size; ++r)
    if (!isVector(args.buffers[r]))
      return refuse(group, "the buffer of member " + std::to_string(r) +
                               " is null or not aligned to 16 bytes");
  return checkGrid(group, args.grid);
}

Status checkMoeCombine(const PeerGroup &group, const MoeCombineArgs &args) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  COLL_RETURN_IF_ERROR(
      checkRows(group, args.rowBytes, args.numTokens, args.rankPrefix, args.sendHead));
  if (args.capacity > kMaxTokens || args.numTopk > kMoeTopk)
    return refuse(group, "a number of the call is out of range");
  if (args.dtype != kCollBf16 && args.dtype != kCollF16 && args.dtype != kCollF32)
    return refuse(group, "rows of an element type that it does not add up");
  if (args.numTokens > 0 && (!isVector(args.out) || (args.numTopk > 0 && !args.outWeights)))
    return refuse(group, "`out` or `outWeights` is null or not aligned to 16 bytes");
  for (const void *bias : args.bias)
    if (bias && !isVector(bias))
      return refuse(group, "`bias` is not aligned to 16 bytes");
  for (uint32_t r = 0; r < group.size; ++r)
    if (!isVector(args.rows[r]) || (args.numTopk > 0 && !args.topkWeights[r]))
      return refuse(group, "the rows of member " + std::to_string(r) +
                               " are null or not aligned to 16 bytes");
  return checkGrid(group, args.grid);
}

namespace moe {

Pieces Pieces::of(uint32_t rowBytes, uint32_t most) {
  const uint32_t vectors = rowBytes / kVec, perPiece = most / kVec;
  const uint32_t count = (vectors + perPiece - 1) / perPiece;
  return {rowBytes, (vectors + count - 1) / count * kVec, count};
}

Layout planLayout(const MoeLayoutArgs &args) {
  const uint32_t experts = (args.numExperts + kMoeExpertsPerBlock - 1) / kMoeExpertsPerBlock;
  Layout plan = {args, args.numRanks + (args.tokensOfAny ? 1 : 0) + experts,
                 args.threads ? args.threads : kMoeCountThreads};
  plan.call.rankStride = args.rankStride ? args.rankStride : args.numRanks;
  return plan;
}

Notify planNotify(const PeerGroup &group, const MoeNotifyArgs &args) {
  return {args, numberOf({kNotify, args.numExperts, args.capacity}), 1 + group.size,
          args.threads ? args.threads : kMoeNotifyThreads};
}

Dispatch planDispatch(const PeerGroup &, const MoeDispatchArgs &args) {
  const MoeShape &s = args.shape;
  Dispatch plan = {args, moeArea(s), Pieces::of(s.rowBytes, kMoePieceBytes), 0};
  plan.call.grid = filled(args.grid);
  plan.what = numberOf({kDispatch, s.rowBytes, s.numScales, s.numTopk, s.numExperts, s.capacity,
                        args.topkIdx != nullptr, plan.call.grid.blocks});
  return plan;
}

Combine planCombine(const PeerGroup &group, const MoeCombineArgs &args) {
  Combine plan = {args, Pieces::of(args.rowBytes, kMoeStageBytes / group.size), 0};
  plan.call.grid = filled(args.grid);
  plan.what = numberOf({kCombine, static_cast<uint32_t>(args.dtype), args.rowBytes, args.numTopk,
                        args.capacity, args.variant, plan.call.grid.blocks});
  return plan;
}

namespace {

uint64_t sharedBytes(uint32_t threads, uint32_t stageBytes) {
  return sizeof(RingsPlace) + uint64_t{threads / kWarp} * (sizeof(WarpScratch) + stageBytes);
}

} // namespace

uint64_t dispatchSharedBytes(uint32_t threads) {
  return sharedBytes(threads, kMoeSendStages * kMoePieceBytes);
}
uint64_t combineSharedBytes(uint32_t threads) {
  return sharedBytes(threads, kMoeFetchStages * kMoeStageBytes);
}

} // namespace moe

} // namespace coll::kernels
