#include "runtime/kernels/moe/relay.h"

#include <algorithm>
#include <string>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint32_t kVec = 16;
constexpr uint32_t kMaxTokens = INT32_MAX / 2;
constexpr uint32_t kMaxTopk = 32;
constexpr uint32_t kMaxBlocks = 32;

Status refuse(const std::string &why) { return Status::invalid("moe relay: " + why); }

bool isVector(const void *address) {
  return address && reinterpret_cast<uintptr_t>(address) % kVec == 0;
}

uint64_t roundUp(uint64_t bytes) { return (bytes + kVec - 1) / kVec * kVec; }

Status checkRecord(uint32_t rowBytes, uint32_t numTopk, uint32_t count) {
  if (rowBytes == 0 || rowBytes % kVec)
    return refuse("a row has " + std::to_string(rowBytes) + " bytes");
  if (numTopk > kMaxTopk || count > kMaxTokens)
    return refuse(std::to_string(count) + " tokens with " + std::to_string(numTopk) + " experts");
  return Status::okay();
}

} // namespace

MoeRun moeRun(const MoeRecord &record, uint32_t count) {
  const uint64_t n = count;
  MoeRun run = {};
  run.topkIdx = n * record.rowBytes;
  run.topkWeights = run.topkIdx + roundUp(n * record.numTopk * sizeof(int64_t));
  run.scales = run.topkWeights + roundUp(n * record.numTopk * sizeof(float));
  run.bytes = run.scales + roundUp(n * record.numScales * sizeof(float));
  return run;
}

uint32_t moeRelayBlocks(uint32_t tokens) {
  const uint32_t warps = kMoeRelayThreads / 32;
  return std::clamp((tokens + warps - 1) / warps, 1u, kMaxBlocks);
}

Status checkMoeGather(const MoeGatherArgs &args) {
  COLL_RETURN_IF_ERROR(checkRecord(args.record.rowBytes, args.record.numTopk, args.count));
  if (args.count == 0)
    return Status::okay();
  if (!isVector(args.x) || !isVector(args.to))
    return refuse("`x` or `to` is null or not aligned to 16 bytes");
  if (!args.tokens || (args.record.numTopk > 0 && !args.topkIdx) ||
      (args.record.numScales > 0 && !args.scales))
    return refuse("a pointer of the gathering is null");
  return Status::okay();
}

Status checkMoeMerge(const MoeMergeArgs &args) {
  COLL_RETURN_IF_ERROR(checkRecord(args.rowBytes, args.numTopk, args.numTokens));
  if (args.node >= args.numNodes && args.node != kMoeNoNode)
    return refuse("node " + std::to_string(args.node) + " of " + std::to_string(args.numNodes));
  if (args.numTokens == 0)
    return Status::okay();
  if (!isVector(args.out) || !isVector(args.rows) || !args.places ||
      (args.numTopk > 0 && (!args.outWeights || !args.weights)))
    return refuse("a pointer of the merging is null or not aligned to 16 bytes");
  for (const void *bias : args.bias)
    if (bias && !isVector(bias))
      return refuse("`bias` is not aligned to 16 bytes");
  return Status::okay();
}

} // namespace coll::kernels
