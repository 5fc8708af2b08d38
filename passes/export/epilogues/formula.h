//===- formula.h - what is computed of gelu's argument ----------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EPILOGUES_FORMULA_H
#define COLL_PASSES_EXPORT_EPILOGUES_FORMULA_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <map>
#include <optional>

namespace mlir::coll {

/// A polynomial of x, of t = tanh(sqrt(2/pi) (x + 0.044715 x^3)), and of one product's result g.
/// Its form is unique, however the step writes gelu and its gradient.
class Formula {
public:
  static Formula number(double value);
  static Formula x();
  static Formula tanh();
  static Formula product(Value g);

  /// nullopt if the result has too many terms, or more than one product.
  std::optional<Formula> plus(const Formula &other) const;
  std::optional<Formula> times(const Formula &other) const;

  std::optional<double> asNumber() const;
  /// `element`: the type to which the step has rounded its constants.
  bool isTanhArgument(Type element) const;
  bool isGelu(Type element) const;
  /// g times the derivative of gelu at x.
  bool isGeluGradient(Type element) const;

  /// The product's result, or null.
  Value getProduct() const { return product_; }

private:
  using Powers = std::array<int, 3>; // of x, t and g
  using Terms = std::map<Powers, double>;

  bool join(const Formula &other);
  template <size_t kTerms>
  std::array<double, kTerms> getFactors(const Powers (&powers)[kTerms]) const;

  Terms terms_; // without zeros
  Value product_;
};

/// The value with reshapes looked through: its elements in the same order.
Value lookThroughReshapes(Value value);

/// Whether the operation computes each element of its only result of the same elements of its
/// inputs.
bool isElementwise(Operation *op);

/// Reads tensors that are computed of x element by element.
class FormulaReader {
public:
  explicit FormulaReader(Value x) : x_(lookThroughReshapes(x)), element_(getElementTypeOrSelf(x)) {}

  /// nullopt if it is computed of anything but x and one product.
  std::optional<Formula> read(Value tensor);

private:
  std::optional<Formula> compute(Value tensor);
  std::optional<Formula> readScalar(Value scalar, linalg::GenericOp op);

  Value x_;
  Type element_;
  int depth_ = 0;
  llvm::DenseMap<Value, std::optional<Formula>> known_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EPILOGUES_FORMULA_H
