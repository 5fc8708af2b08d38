//===- layout.h - where rows of attention are in memory ---------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_ATTENTION_LAYOUT_H
#define COLL_PASSES_EXPORT_ATTENTION_LAYOUT_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace mlir::coll {

/// For each dimension of the result of a copy, a transposition, a broadcast, or a reshape by
/// dimensions of extent 1: the operand's dimension, or -1 for one along which nothing changes.
/// nullopt for every other operation.
std::optional<SmallVector<int64_t>> getSpreadDims(Operation *op);

/// Axes of attention within a dense tensor: those of the batch, the row, and the element of a row.
/// With groups, the last axis of the batch counts the heads that share the keys of one head.
struct Rows {
  Value base;
  bool isGrouped = false;
  SmallVector<int64_t> extents; // by axis
  SmallVector<int64_t> strides; // by axis, in elements; 0 where the extent is 1
  int64_t first = 0;            // of the elements

  bool operator==(const Rows &other) const {
    return base == other.base && isGrouped == other.isGrouped && extents == other.extents &&
           strides == other.strides && first == other.first;
  }
  bool operator!=(const Rows &other) const { return !(*this == other); }
  /// Whether the runtime can read rows with this layout.
  bool isUsable() const;
  /// The strides of the batch's axes, at most two: of three, a head and its group are one.
  SmallVector<int64_t> getBatchStrides() const;
};

/// `value` itself; axis i is its dimension `dims[i]`. Its other dimensions are of extent 1.
Rows getRows(Value value, ArrayRef<int64_t> dims, bool isGrouped);

/// The rows that an operation reads, and where their elements come from.
struct RowSource {
  Rows own;                   // as the operation reads them
  SmallVector<int64_t> dims;  // of `own.base`, by axis
  Rows origin;                // through transposed copies, reshapes and slices, as far as it goes
  std::optional<Rows> usable; // the last place on the way that the runtime can read

  RowSource() = default;
  RowSource(Value value, ArrayRef<int64_t> dims, bool isGrouped);
  bool operator!=(const RowSource &other) const { return origin != other.origin; }
  /// Rows that the runtime can read: `usable`, or a transposed copy that is made here.
  Rows getReadable(OpBuilder &builder, Location loc) const;
};

/// A copy of `value` whose dimension i is dimension `dims[i]` of it. Its other dimensions
/// are of extent 1.
Value copyTransposed(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> dims);

/// Where a result may be written instead of to `rows.base`: through the reshapes, transposed copies
/// and the rounding to `element` that are its only users. The last such place of that type; nullopt
/// if there is none.
std::optional<Rows> writeThrough(Rows rows, Type element);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_ATTENTION_LAYOUT_H
