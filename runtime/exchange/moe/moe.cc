#include "runtime/exchange/moe/moe.h"

#include "runtime/base/dtype.h"

#include <string>

namespace coll::rt {

namespace {

constexpr int kRowAlignment = 16;
constexpr int kMaxSms = 128;
constexpr int64_t kMaxTokens = INT32_MAX / 2;

Status refuse(const std::string &why) { return Status::invalid("moe: " + why); }

bool aligned(const void *address, uintptr_t unit) {
  return reinterpret_cast<uintptr_t>(address) % unit == 0;
}

// Whether combine adds up rows of the type.
bool isSummed(CollDtype dtype) {
  return dtype == kCollBf16 || dtype == kCollF16 || dtype == kCollF32;
}

Status checkRow(const char *name, const void *x, int64_t rows, int64_t rowBytes) {
  if (rowBytes <= 0 || rowBytes % kRowAlignment || rowBytes > INT32_MAX)
    return refuse("a row of `" + std::string(name) + "` has " + std::to_string(rowBytes) +
                  " bytes; it has to be a multiple of 16");
  if (rows > 0 && (!x || !aligned(x, kRowAlignment)))
    return refuse("`" + std::string(name) + "` is null or not aligned to 16 bytes");
  return Status::okay();
}

} // namespace

Status checkMoeConfig(const MoeConfig &config) {
  if (config.numSms < 2 || config.numSms % 2 || config.numSms > kMaxSms)
    return refuse("numSms is " + std::to_string(config.numSms) + "; it must be even, from 2 to " +
                  std::to_string(kMaxSms));
  return Status::okay();
}

Status checkMoeRouting(const MoeRouting &routing, int numRanks) {
  if (routing.numTokens < 0 || routing.numTokens > kMaxTokens)
    return refuse("numTokens is " + std::to_string(routing.numTokens));
  if (routing.numTopk < 1 || routing.numTopk > kMoeMaxTopk)
    return refuse("numTopk is " + std::to_string(routing.numTopk) + "; it must be from 1 to " +
                  std::to_string(kMoeMaxTopk));
  if (routing.numExperts < 1 || routing.numExperts % numRanks)
    return refuse("numExperts is " + std::to_string(routing.numExperts) +
                  ", which is not a multiple of " + std::to_string(numRanks) + " ranks");
  if (routing.numTokens > 0 && !routing.topkIdx)
    return refuse("`topkIdx` is null");
  return Status::okay();
}

Status checkMoeLayout(const MoeLayout &layout, int64_t numTokens) {
  for (const int32_t *counts : {layout.tokensPerRank, layout.tokensPerExpert})
    if (!counts || !aligned(counts, alignof(int32_t)))
      return refuse("counts of `layout` are null, or not aligned");
  if (!aligned(layout.tokensPerNetRank, alignof(int32_t)))
    return refuse("`tokensPerNetRank` of `layout` is not aligned");
  if (numTokens > 0 && !layout.isTokenInRank)
    return refuse("`isTokenInRank` of `layout` is null");
  return Status::okay();
}

Status checkMoeTokens(const MoeTokens &tokens, const MoeRouting &routing) {
  if (!isValidDtype(tokens.dtype))
    return refuse("there is no type " + std::to_string(tokens.dtype));
  if (tokens.hidden > INT32_MAX)
    return refuse("hidden is " + std::to_string(tokens.hidden));
  COLL_RETURN_IF_ERROR(
      checkRow("x", tokens.x, routing.numTokens, tokens.hidden * dtypeSize(tokens.dtype)));
  if (tokens.numScales < 0 || tokens.numScales > tokens.hidden)
    return refuse("numScales is " + std::to_string(tokens.numScales));
  if (routing.numTokens > 0 && (tokens.numScales > 0) != (tokens.scales != nullptr))
    return refuse("`scales` and numScales do not go together");
  if (tokens.numScales > 0 && (tokens.scaleTokenStride < 0 || tokens.scaleStride < 0))
    return refuse("strides of `scales` are negative");
  return Status::okay();
}

Status checkMoeOptions(const MoeDispatchOptions &options) {
  if (options.expertAlignment < 1 || options.expertAlignment > kMaxTokens)
    return refuse("expertAlignment is " + std::to_string(options.expertAlignment));
  if (options.worstCaseTokens < 0 || options.worstCaseTokens > kMaxTokens)
    return refuse("worstCaseTokens is " + std::to_string(options.worstCaseTokens));
  return Status::okay();
}

Status checkMoeCombine(const MoeCombine &combine, const MoeHandle &handle) {
  if (handle.numTokens < 0 || handle.numTokens > kMaxTokens || !handle.rankPrefix ||
      (handle.numTokens > 0 && !handle.sendHead))
    return refuse("`handle` is not from a dispatch");
  if (combine.numRows < 0 || combine.numRows > kMaxTokens ||
      (handle.numRecv >= 0 && combine.numRows < handle.numRecv))
    return refuse("`x` has " + std::to_string(combine.numRows) + " rows; the dispatch received " +
                  std::to_string(handle.numRecv));
  if (combine.hidden > INT32_MAX)
    return refuse("hidden is " + std::to_string(combine.hidden));
  if (!isSummed(combine.dtype))
    return refuse(std::string("rows of ") + dtypeName(combine.dtype) +
                  " are not added up; bf16, f16 and f32 are");
  const int64_t rowBytes = combine.hidden * dtypeSize(combine.dtype);
  COLL_RETURN_IF_ERROR(checkRow("x", combine.x, combine.numRows, rowBytes));
  COLL_RETURN_IF_ERROR(checkRow("out", combine.out, handle.numTokens, rowBytes));
  for (const void *bias : combine.bias)
    if (bias && !aligned(bias, kRowAlignment))
      return refuse("`bias` is not aligned to 16 bytes");
  if (combine.numTopk < 0 || combine.numTopk > kMoeMaxTopk)
    return refuse("numTopk is " + std::to_string(combine.numTopk));
  if (handle.numTokens > 0 && (combine.numTopk > 0) != (combine.outWeights != nullptr))
    return refuse("`outWeights` and numTopk do not go together");
  if (combine.numRows > 0 && (combine.numTopk > 0) != (combine.topkWeights != nullptr))
    return refuse("`topkWeights` and numTopk do not go together");
  return Status::okay();
}

} // namespace coll::rt
