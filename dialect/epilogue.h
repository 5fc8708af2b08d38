//===- epilogue.h - products that compute what follows them ------------*- C++ -*-===//
//
// The operation that epilogue.td declares, and what its verifier and that of the exec dialect have
// in common.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DIALECT_EPILOGUE_H
#define COLL_DIALECT_EPILOGUE_H

#include "dialect/dialect.h"

#define GET_OP_CLASSES
#include "dialect/epilogue_ops.h.inc"

namespace mlir::coll {

/// A function of a product's sums; CollEpilogue of the ABI has the same numbers.
enum class Epilogue { Bias = 1, Relu, BiasRelu, Gelu, BiasGelu, GeluGradient };

StringRef stringifyEpilogue(Epilogue epilogue);
std::optional<Epilogue> symbolizeEpilogue(StringRef name);

/// What else a product with the epilogue reads, or can have as second result.
enum class EpilogueTensor { None, Row, Matrix };
EpilogueTensor getRead(Epilogue epilogue);
EpilogueTensor getKept(Epilogue epilogue);

/// A product with an epilogue: its attributes, its types, and the elements of its operands.
struct EpilogueShape {
  StringRef name;
  Type factor, sum;
  ArrayRef<int64_t> mnk, lds;
  bool transA = false, transB = false;

  /// The elements that the product touches, from the first to the last of each matrix; of `with`
  /// and the second result too, 0 without one.
  int64_t countA() const { return transA ? count(mnk[2], mnk[0], 0) : count(mnk[0], mnk[2], 0); }
  int64_t countB() const { return transB ? count(mnk[1], mnk[2], 1) : count(mnk[2], mnk[1], 1); }
  int64_t countC() const { return count(mnk[0], mnk[1], 2); }
  int64_t count(EpilogueTensor tensor) const;

private:
  int64_t count(int64_t rows, int64_t columns, int operand) const {
    return (rows - 1) * lds[operand] + columns;
  }
};

/// Why this is not a product with an epilogue; empty if it is. `reads` and `keeps`: whether there
/// is such an operand or result.
std::string explainEpilogue(const EpilogueShape &shape, bool reads, bool keeps);

} // namespace mlir::coll

#endif // COLL_DIALECT_EPILOGUE_H
