//===- pattern.h - what follows a product ------------------------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EPILOGUES_PATTERN_H
#define COLL_PASSES_EXPORT_EPILOGUES_PATTERN_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::coll {

class Formula;

/// The addition of a vector to each row of a product, and nothing else reads the product.
struct BiasAddition {
  linalg::GenericOp add;
  Value vector; // of as many elements as the product has columns
};
std::optional<BiasAddition> findBias(GemmOp gemm);

/// The maximum of `argument` and zero, or null. Nothing else reads `argument`, except comparisons
/// that ask whether it is above zero, which is so where the maximum is.
linalg::GenericOp findRelu(Value argument);

/// A value that is computed of x, and of at most one product, element by element.
struct FoundValue {
  linalg::GenericOp op;
  Value product; // null: of x alone
};
SmallVector<FoundValue> findValues(Value x, llvm::function_ref<bool(const Formula &)> wanted);

/// The sum of each column of a matrix with `columns` columns, in the type of the matrix, or null.
Value findColumnSums(Value matrix, int64_t columns);

/// Whether the uses of `value` end in `ends`, through elementwise operations.
bool feedsOnly(Value value, ArrayRef<Operation *> ends);

/// Whether anything but kernels reads the value, so that it has to be in memory.
bool isReadFromMemory(Value value);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EPILOGUES_PATTERN_H
