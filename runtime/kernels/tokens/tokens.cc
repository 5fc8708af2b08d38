#include "runtime/kernels/tokens/tokens.h"

#include "runtime/kernels/moe/moe.h"

#include <string>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint32_t kVec = 16;
constexpr uint32_t kMaxRows = INT32_MAX / 2;

Status refuse(const std::string &why) { return Status::invalid("tokens of a step: " + why); }

bool isVector(const void *address) {
  return address && reinterpret_cast<uintptr_t>(address) % kVec == 0;
}

Status checkShape(const TokenShape &shape) {
  if (shape.groupSize == 0 || shape.groupSize > kMaxPeers || shape.position >= shape.groupSize)
    return refuse("member " + std::to_string(shape.position) + " of " +
                  std::to_string(shape.groupSize));
  if (shape.tokens > kMaxRows || shape.capacity > kMaxRows || shape.topk == 0 ||
      shape.topk > kMoeTopk)
    return refuse(std::to_string(shape.tokens) + " tokens with " + std::to_string(shape.topk) +
                  " experts each, and a capacity of " + std::to_string(shape.capacity));
  return Status::okay();
}

} // namespace

Status checkWidenExperts(const WidenExperts &widen) {
  return widen.count == 0 || (widen.from && widen.to) ? Status::okay()
                                                      : refuse("the experts are null");
}

Status checkUnpackTokens(const UnpackTokens &unpack) {
  COLL_RETURN_IF_ERROR(checkShape(unpack.shape));
  if (unpack.rowBytes == 0 || unpack.rowBytes % kVec)
    return refuse("a row has " + std::to_string(unpack.rowBytes) +
                  " bytes; it has to be a multiple of 16");
  if (!unpack.rankPrefix || !unpack.tokensPerExpert || !unpack.counts || !unpack.route ||
      (unpack.shape.tokens > 0 && !unpack.isTokenInRank))
    return refuse("a pointer of the results is null");
  if (unpack.shape.capacity == 0)
    return Status::okay();
  if (!isVector(unpack.x) || !isVector(unpack.rows))
    return refuse("rows are null or not aligned to 16 bytes");
  if (!unpack.topkIdx || !unpack.topkWeights || !unpack.rowExperts || !unpack.rowWeights ||
      (unpack.numScales > 0 && (!unpack.scales || !unpack.rowScales)))
    return refuse("experts, weights or scales of rows are null");
  return Status::okay();
}

Status checkTokenRoute(const TokenRoute &route) {
  COLL_RETURN_IF_ERROR(checkShape(route.shape));
  if (!route.route || !route.tokensPerRank || !route.rankPrefix || !route.error ||
      (route.shape.tokens > 0 && !route.isTokenInRank))
    return refuse("a pointer of the route is null");
  return Status::okay();
}

} // namespace coll::kernels
