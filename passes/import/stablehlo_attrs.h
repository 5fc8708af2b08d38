//===- stablehlo_attrs.h - attributes of unregistered operations ------*- C++ -*-===//
//
// StableHLO is not registered here: nothing has verified an operation, and its
// own attributes arrive as opaque text. Each accessor either returns a value of
// the form asked for or reports an error on the operation.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_ATTRS_H
#define COLL_PASSES_IMPORT_STABLEHLO_ATTRS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mlir::coll::stablehlo {

/// Largest number of elements of a tensor, and largest magnitude in an integer
/// list, so that products of two extents cannot overflow.
inline constexpr int64_t kMaxExtent = int64_t{1} << 31;

/// An integer attribute. Without `fallback` its absence is an error.
FailureOr<int64_t> getInt(Operation *op, StringRef name, std::optional<int64_t> fallback = {});

/// A list of `count` integers (or booleans): `array<i64: …>`, `dense<…>` or `[…]`.
/// If the attribute is absent: `count` times `fallback`, or an error without it.
FailureOr<SmallVector<int64_t>> getInts(Operation *op, StringRef name, int64_t count,
                                        std::optional<int64_t> fallback = {});

/// A list of integers of any length; its absence is an error.
FailureOr<SmallVector<int64_t>> getIntList(Operation *op, StringRef name);

/// A boolean attribute; absent means false.
FailureOr<bool> getFlag(Operation *op, StringRef name);

/// The word of an enum attribute `#stablehlo<kind WORD>`, or "" if it is absent.
FailureOr<StringRef> getKeyword(Operation *op, StringRef name, StringRef kind);

/// Which of the dialect's precisions (kPrecisionAttr) `precision_config` asks for, over all
/// operands: "highest", "high", or "" for the default.
FailureOr<StringRef> getPrecision(Operation *op);

/// The name of a symbol attribute `@name`; its absence is an error.
FailureOr<StringRef> getSymbol(Operation *op, StringRef name);

/// The fields of `#stablehlo.mnemonic<key = [1, 2], key = 3>`: lists and single
/// numbers alike. A field that is absent is an empty list.
class Fields {
public:
  ArrayRef<int64_t> list(StringRef key) const;
  /// The single number of a field, `fallback` if it is absent.
  int64_t number(StringRef key, int64_t fallback) const;
  static std::optional<Fields> parse(StringRef body);

private:
  llvm::StringMap<SmallVector<int64_t>> fields_;
};
FailureOr<Fields> getFields(Operation *op, StringRef name, StringRef mnemonic);

/// The position of each logical dimension in one tensor of a convolution. For the kernel,
/// `first` is the input feature and `second` the output feature; for the others, batch and
/// feature.
struct ConvLayout {
  int64_t first = -1;
  int64_t second = -1;
  SmallVector<int64_t> spatial;
};
struct ConvLayouts {
  ConvLayout input, kernel, output;
};
/// `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`. All three have the
/// same number of spatial dimensions.
FailureOr<ConvLayouts> getConvLayouts(Operation *op, StringRef name);

/// Whether every entry is in [0, rank) and none occurs twice.
bool areDistinctDims(ArrayRef<int64_t> dims, int64_t rank);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_ATTRS_H
