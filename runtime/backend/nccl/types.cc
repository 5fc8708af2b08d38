#include "runtime/backend/nccl/types.h"

#include "runtime/base/dtype.h"

#include <cmath>
#include <optional>

namespace coll::rt::nccl {

namespace {

// The unsigned type if the reduction is unsigned.
std::optional<int> typeOf(CollDtype dtype, bool isUnsigned) {
  switch (dtype) {
  case kCollF32:
    return dl::kNcclFloat32;
  case kCollF64:
    return dl::kNcclFloat64;
  case kCollF16:
    return dl::kNcclFloat16;
  case kCollBf16:
    return dl::kNcclBfloat16;
  case kCollI8:
    return isUnsigned ? dl::kNcclUint8 : dl::kNcclInt8;
  case kCollI32:
    return isUnsigned ? dl::kNcclUint32 : dl::kNcclInt32;
  case kCollI64:
    return isUnsigned ? dl::kNcclUint64 : dl::kNcclInt64;
  case kCollF8E4M3FN:
    return dl::kNcclFloat8e4m3;
  case kCollF8E5M2:
    return dl::kNcclFloat8e5m2;
  case kCollU8:
    return dl::kNcclUint8;
  default:
    return std::nullopt;
  }
}

std::optional<int> opOf(CollReduction reduction) {
  switch (reduction) {
  case kCollSum:
    return dl::kNcclSum;
  case kCollProd:
    return dl::kNcclProd;
  case kCollMin:
  case kCollUmin:
    return dl::kNcclMin;
  case kCollMax:
  case kCollUmax:
    return dl::kNcclMax;
  case kCollAvg:
    return dl::kNcclAvg;
  default:
    return std::nullopt;
  }
}

bool isFp8(CollDtype dtype) { return dtype == kCollF8E4M3FN || dtype == kCollF8E5M2; }

// Booleans are bytes 0 or 1, so that "or" is the larger and "and" the smaller.
std::optional<int> boolOpOf(CollReduction reduction) {
  switch (reduction) {
  case kCollSum:
  case kCollMax:
  case kCollUmax:
  case kCollOr:
    return dl::kNcclMax;
  case kCollProd:
  case kCollMin:
  case kCollUmin:
  case kCollAnd:
    return dl::kNcclMin;
  default:
    return std::nullopt;
  }
}

} // namespace

Result<Arithmetic> arithmeticOf(CollDtype dtype, CollReduction reduction) {
  bool isUnsigned = reduction == kCollUmin || reduction == kCollUmax;
  std::optional<int> type =
      dtype == kCollBool ? std::optional<int>(dl::kNcclUint8) : typeOf(dtype, isUnsigned);
  std::optional<int> op = dtype == kCollBool ? boolOpOf(reduction) : opOf(reduction);
  if (!type || !op || (isFp8(dtype) && reduction == kCollAvg))
    return Status(kCollUnsupported, std::string("NCCL has no ") + reductionName(reduction) +
                                        " of " + dtypeName(dtype));
  return Arithmetic{*type, *op};
}

Status supports(const Call &call, bool hasFp8) {
  if (call.kind == OpKind::RootUpdate)
    return {kCollUnsupported, "NCCL does not support root updates"};
  if (!reduces(call.kind))
    return {};
  if (isFp8(call.dtype) && !hasFp8)
    return {kCollUnsupported,
            "NCCL reduces eight-bit floats from 2.24 and compute capability 9.0 on"};
  if (call.order == kCollOrderRank)
    return {kCollUnsupported, "NCCL does not guarantee the order of sums"};
  const bool rounds = call.reduction != kCollMin && call.reduction != kCollMax;
  if (call.accumulation == kCollAccumulateF32 && rounds)
    return {kCollUnsupported, "NCCL rounds each partial sum of narrow floats"};
  bool scales = call.scale != 1;
  if (scales && (!isFloat(call.dtype) || isFp8(call.dtype) || !std::isfinite(call.scale) ||
                 (call.reduction != kCollSum && call.reduction != kCollAvg)))
    return {kCollUnsupported,
            "only sums and averages of floats from 16 bits on are scaled, by finite numbers"};
  Result<Arithmetic> arithmetic = arithmeticOf(call.dtype, call.reduction);
  return arithmetic ? Status() : arithmetic.status();
}

} // namespace coll::rt::nccl
