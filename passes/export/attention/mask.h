//===- mask.h - masks that are computed from positions ----------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_ATTENTION_MASK_H
#define COLL_PASSES_EXPORT_ATTENTION_MASK_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace mlir::coll {

/// A tensor whose elements depend on their positions: by dimension i_0, i_1, … the element is
/// constant + sum of factors[d] * i_d, or, of a mask, whether that is at least 0. Masks may be kept
/// as the numbers 0 and 1.
struct Positions {
  bool isMask = false;
  SmallVector<int64_t> factors;
  int64_t constant = 0;

  bool isConstant() const {
    return llvm::all_of(factors, [](int64_t factor) { return factor == 0; });
  }
};

/// `value` as positions, if it is made of counted positions, numbers, comparisons, selections and
/// broadcasts of these, or is such a constant; else nullopt.
std::optional<Positions> readPositions(Value value);

/// `input` with its dimensions where `dims` says, as getSpreadDims does.
Positions spreadPositions(const Positions &input, ArrayRef<int64_t> dims);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_ATTENTION_MASK_H
