#include "runtime/kernels/moe/low_latency.h"

#include "runtime/kernels/moe/low_latency_plan.h"
#include "runtime/kernels/moe/tuning.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint64_t kAlignment = 512;
constexpr uint32_t kVec = 16;

Status refuse(const std::string &why) { return Status::invalid("moe low latency: " + why); }
Status refuse(const PeerGroup &group, const std::string &why) {
  return refuse(why + " (member " + std::to_string(group.rank) + ")");
}

bool isVector(const void *address) {
  return address && reinterpret_cast<uintptr_t>(address) % kVec == 0;
}

uint64_t roundUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

Status checkGrid(const PeerGroup &group, const MoeGrid &grid) {
  if (grid.threads % 32 || grid.threads > kLowLatencyThreads)
    return refuse(group, "threads of a block are a multiple of 32 up to " +
                             std::to_string(kLowLatencyThreads));
  if (grid.blocks > kLowLatencyMaxBlocks)
    return refuse(group, std::to_string(grid.blocks) + " blocks; there are at most " +
                             std::to_string(kLowLatencyMaxBlocks));
  return Status::okay();
}

uint32_t ranksOf(const PeerGroup &group, const LowLatencyFar &far) {
  return far.numRanks ? far.numRanks : group.size;
}

Status checkFar(const PeerGroup &group, const LowLatencyFar &far) {
  const uint32_t ranks = ranksOf(group, far);
  if (ranks > kLowLatencyRanks || ranks < group.size || far.firstRank > ranks - group.size)
    return refuse(group, "members are ranks from " + std::to_string(far.firstRank) + " on of " +
                             std::to_string(ranks) + "; there are at most " +
                             std::to_string(kLowLatencyRanks));
  if (ranks > group.size && (!far.memory || reinterpret_cast<uintptr_t>(far.memory) % kVec))
    return refuse(group, "the memory for other nodes is null or not aligned to 16 bytes");
  return Status::okay();
}

Status checkFarRoom(const PeerGroup &group, const LowLatencyCall &call) {
  const uint32_t ranks = ranksOf(group, call.far);
  return ranks == group.size || lowLatencyFits(call.shape, ranks, group.size, call.far.area)
             ? Status::okay()
             : refuse(group, "the memory for other nodes has no room for messages of this shape");
}

Status checkCall(const PeerGroup &group, const LowLatencyCall &call) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  COLL_RETURN_IF_ERROR(checkFar(group, call.far));
  COLL_RETURN_IF_ERROR(checkLowLatencyShape(call.shape, ranksOf(group, call.far)));
  COLL_RETURN_IF_ERROR(checkFarRoom(group, call));
  if (call.phases == 0 || call.phases > (kLowLatencySend | kLowLatencyReceive))
    return refuse(group, "no such phases");
  if (call.numTokens > call.shape.maxTokens)
    return refuse(group, std::to_string(call.numTokens) + " tokens; there may be " +
                             std::to_string(call.shape.maxTokens));
  if (call.numTopk == 0 || call.numTopk > call.shape.numTopk)
    return refuse(group, std::to_string(call.numTopk) + " experts of a token; there may be " +
                             std::to_string(call.shape.numTopk));
  if (call.numTokens > 0 && !call.topkIdx)
    return refuse(group, "`topkIdx` is null");
  for (uint32_t r = 0; r < group.size; ++r)
    if (!call.buffers[r] || reinterpret_cast<uintptr_t>(call.buffers[r]) % kAlignment)
      return refuse(group, "the buffer of member " + std::to_string(r) +
                               " is null or not aligned to 512 bytes");
  return checkGrid(group, call.grid);
}

// A hash of the values that members have to agree on.
uint32_t numberOf(std::initializer_list<uint32_t> words) {
  uint32_t hash = 2166136261u;
  for (uint32_t word : words)
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ (word >> shift & 0xffu)) * 16777619u;
  return hash;
}
enum Kind : uint32_t { kDispatch = 0x6c6c6101u, kCombine };

uint32_t numberOf(Kind kind, const LowLatencyCall &call, bool variant) {
  const LowLatencyShape &s = call.shape;
  return numberOf({kind, s.maxTokens, s.hidden, s.numTopk, s.numExperts, variant});
}

template <typename Plan>
void fillIn(const PeerGroup &group, Plan &plan) {
  LowLatencyCall &call = plan.args.call;
  call.far.numRanks = ranksOf(group, call.far);
  MoeGrid &grid = call.grid;
  grid.blocks = grid.blocks ? grid.blocks : kLowLatencyBlocks;
  grid.threads = grid.threads ? grid.threads : kLowLatencyThreads;
}

} // namespace

Status checkLowLatencyShape(const LowLatencyShape &shape, uint32_t numRanks) {
  if (shape.maxTokens == 0 || shape.maxTokens > kLowLatencyTokens)
    return refuse("maxTokens is " + std::to_string(shape.maxTokens) + "; it must be from 1 to " +
                  std::to_string(kLowLatencyTokens));
  if (shape.hidden == 0 || shape.hidden % kLowLatencyGroup || shape.hidden > 1u << 20)
    return refuse("hidden is " + std::to_string(shape.hidden) + "; it must be a multiple of " +
                  std::to_string(kLowLatencyGroup));
  if (shape.numTopk == 0 || shape.numTopk > kMoeTopk)
    return refuse("numTopk is " + std::to_string(shape.numTopk) + "; it must be from 1 to " +
                  std::to_string(kMoeTopk));
  if (shape.numExperts == 0 || shape.numExperts % numRanks ||
      shape.numExperts > kLowLatencyExperts ||
      shape.numExperts / numRanks > MoeCounters::kMaxExperts)
    return refuse(std::to_string(shape.numExperts) + " experts of " + std::to_string(numRanks) +
                  " ranks");
  return Status::okay();
}

LowLatencyArea lowLatencyArea(const LowLatencyShape &shape) {
  const uint64_t pairs = shape.numExperts; // local experts x sources
  const uint64_t rows = pairs * shape.maxTokens;
  const uint64_t returned = uint64_t{shape.maxTokens} * shape.numTopk;
  const uint64_t rowBytes = low_latency::rowBytes(shape.hidden);
  LowLatencyArea area = {};
  area.state = 0;
  static_assert(sizeof(low_latency::State) <= kLowLatencyStateBytes);
  area.counts = kLowLatencyStateBytes;
  area.arrivals = area.counts + roundUp(pairs * sizeof(uint64_t));
  area.returns = area.arrivals + roundUp(rows * sizeof(uint64_t));
  area.rows = area.returns + roundUp(returned * sizeof(uint64_t));
  area.back = area.rows + roundUp(rows * rowBytes);
  area.bytes = area.back + roundUp(returned * rowBytes);
  return area;
}

LowLatencyFarArea lowLatencyFarArea(const LowLatencyShape &shape, uint32_t numRanks,
                                    uint32_t groupSize) {
  using namespace low_latency;
  const uint64_t far = numRanks - groupSize, words = roundUp(numRanks * sizeof(uint64_t));
  const uint32_t local = shape.numExperts / numRanks;
  const uint64_t plain = plainBytes(shape.hidden);
  const uint64_t dispatched =
      rowsAt(local, shape.maxTokens, shape.numTopk) + shape.maxTokens * plain;
  const uint64_t returned = kReturnsAt + uint64_t{shape.maxTokens} *
                                             std::min(shape.numTopk, local) * (plain + kTailBytes);
  LowLatencyFarArea area = {};
  area.rung = 0;
  area.taken = words;
  area.sent = area.taken + kAlignment;
  area.arrived = area.sent + words;
  area.returns = area.arrived + words;
  area.out = area.returns + roundUp(uint64_t{shape.maxTokens} * shape.numTopk * sizeof(uint64_t));
  area.messageBytes = roundUp(std::max(dispatched, returned));
  area.in = area.out + far * area.messageBytes;
  area.bytes = area.in + far * area.messageBytes;
  return area;
}

bool lowLatencyFits(const LowLatencyShape &shape, uint32_t numRanks, uint32_t groupSize,
                    const LowLatencyFarArea &area) {
  const LowLatencyFarArea needed = lowLatencyFarArea(shape, numRanks, groupSize);
  return needed.messageBytes <= area.messageBytes &&
         needed.out - needed.returns <= area.out - area.returns;
}

Status checkLowLatencyDispatch(const PeerGroup &group, const LowLatencyDispatchArgs &args) {
  const LowLatencyCall &call = args.call;
  COLL_RETURN_IF_ERROR(checkCall(group, call));
  if ((call.phases & kLowLatencySend) && call.numTokens > 0 && !isVector(args.x))
    return refuse(group, "`x` is null or not aligned to 16 bytes");
  if (!(call.phases & kLowLatencyReceive))
    return Status::okay();
  if (!isVector(args.out.x) || (args.fp8 && !args.out.scales))
    return refuse(group, "the rows that arrive have no place, or one that is not aligned to 16");
  if (!args.out.counts || !args.out.ranges || !args.out.sources)
    return refuse(group, "`counts`, `ranges` or `sources` is null");
  return Status::okay();
}

Status checkLowLatencyCombine(const PeerGroup &group, const LowLatencyCombineArgs &args) {
  const LowLatencyCall &call = args.call;
  COLL_RETURN_IF_ERROR(checkCall(group, call));
  if ((call.phases & kLowLatencySend) &&
      (!isVector(args.x) || !args.from.ranges || !args.from.sources))
    return refuse(group, "`x`, `ranges` or `sources` is null, or `x` not aligned to 16 bytes");
  if ((call.phases & kLowLatencyReceive) && call.numTokens > 0 &&
      (!isVector(args.out) || !args.topkWeights))
    return refuse(group, "`out` or `topkWeights` is null, or `out` not aligned to 16 bytes");
  return Status::okay();
}

namespace low_latency {

Dispatch planDispatch(const PeerGroup &group, const LowLatencyDispatchArgs &args) {
  Dispatch plan = {args, lowLatencyArea(args.call.shape), numberOf(kDispatch, args.call, args.fp8)};
  fillIn(group, plan);
  return plan;
}

Combine planCombine(const PeerGroup &group, const LowLatencyCombineArgs &args) {
  Combine plan = {args, lowLatencyArea(args.call.shape), numberOf(kCombine, args.call, args.log)};
  fillIn(group, plan);
  return plan;
}

uint64_t dispatchSharedBytes(const LowLatencyShape &shape) {
  return sizeof(Scratch) + uint64_t{shape.maxTokens} * shape.numTopk * sizeof(int16_t);
}
uint64_t combineSharedBytes() { return sizeof(Scratch); }

} // namespace low_latency

} // namespace coll::kernels
