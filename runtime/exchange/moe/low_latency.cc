#include "runtime/exchange/moe/low_latency.h"

#include "runtime/base/dtype.h"

#include <string>

namespace coll::rt {

namespace {

constexpr int64_t kMaxTokens = 1024, kGroup = 128, kMaxHidden = 1 << 20;
constexpr int kMaxExperts = 1 << 15, kMaxLocalExperts = 1024; // of all ranks, of one

Status refuse(const std::string &why) { return Status::invalid("moe low latency: " + why); }

bool isRow(const void *address) {
  return address && reinterpret_cast<uintptr_t>(address) % 16 == 0;
}

Status checkRouting(const MoeRouting &routing, const MoeLowLatencyShape &shape, int numRanks) {
  COLL_RETURN_IF_ERROR(checkMoeRouting(routing, numRanks));
  if (routing.numTokens > shape.maxTokens)
    return refuse("numTokens is " + std::to_string(routing.numTokens) + "; maxTokens is " +
                  std::to_string(shape.maxTokens));
  if (routing.numTopk > shape.numTopk)
    return refuse("numTopk is " + std::to_string(routing.numTopk) + "; the shape has " +
                  std::to_string(shape.numTopk));
  if (routing.numExperts != shape.numExperts)
    return refuse("numExperts is " + std::to_string(routing.numExperts) + "; the shape has " +
                  std::to_string(shape.numExperts));
  return Status::okay();
}

} // namespace

Status checkMoeShape(const MoeLowLatencyShape &shape, int numRanks) {
  if (shape.maxTokens < 1 || shape.maxTokens > kMaxTokens)
    return refuse("maxTokens is " + std::to_string(shape.maxTokens) + "; it must be from 1 to " +
                  std::to_string(kMaxTokens));
  if (shape.hidden < 1 || shape.hidden % kGroup || shape.hidden > kMaxHidden)
    return refuse("hidden is " + std::to_string(shape.hidden) + "; it must be a multiple of " +
                  std::to_string(kGroup));
  if (shape.numTopk < 1 || shape.numTopk > kMoeMaxTopk)
    return refuse("numTopk is " + std::to_string(shape.numTopk) + "; it must be from 1 to " +
                  std::to_string(kMoeMaxTopk));
  if (shape.numExperts < 1 || shape.numExperts % numRanks || shape.numExperts > kMaxExperts ||
      shape.numExperts / numRanks > kMaxLocalExperts)
    return refuse("numExperts is " + std::to_string(shape.numExperts) + " for " +
                  std::to_string(numRanks) + " ranks");
  return Status::okay();
}

Status checkMoeDispatch(const MoeLowLatencyDispatch &call, const MoeLowLatencyRows &rows,
                        const MoeLowLatencyShape &shape, int numRanks) {
  COLL_RETURN_IF_ERROR(checkRouting(call.routing, shape, numRanks));
  if (call.dtype != kCollBf16 && call.dtype != kCollF8E4M3FN)
    return refuse(std::string("rows are sent as bf16 or f8e4m3fn, not ") + dtypeName(call.dtype));
  if (call.routing.numTokens > 0 && !isRow(call.x))
    return refuse("`x` is null or not aligned to 16 bytes");
  if (!isRow(rows.x))
    return refuse("`x` of the rows is null or not aligned to 16 bytes");
  if (call.dtype == kCollF8E4M3FN && !rows.scales)
    return refuse("`scales` of the rows is null");
  if (!rows.counts || !rows.ranges || !rows.sources)
    return refuse("`counts`, `ranges` or `sources` of the rows is null");
  return Status::okay();
}

Status checkMoeCombine(const MoeLowLatencyCombine &call, const MoeLowLatencyRows &rows,
                       const MoeLowLatencyShape &shape, int numRanks) {
  COLL_RETURN_IF_ERROR(checkRouting(call.routing, shape, numRanks));
  if (!isRow(call.x))
    return refuse("`x` is null or not aligned to 16 bytes");
  if (!rows.ranges || !rows.sources)
    return refuse("`ranges` or `sources` of the rows is null");
  if (call.routing.numTokens > 0 && (!isRow(call.out) || !call.topkWeights))
    return refuse("`out` or `topkWeights` is null, or `out` not aligned to 16 bytes");
  return Status::okay();
}

} // namespace coll::rt
