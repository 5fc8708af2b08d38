//===- score_algebra.h - what tensors of a softmax hold, as formulas --*- C++ -*-===//
//
// A softmax and its gradient are made of few things: e, the exponentials of the scores; d, the
// gradient with respect to the probabilities; sums of their products over a row; numbers. What a
// front end writes is compared with what attention computes as a sum of products of these, in a
// form that does not depend on the order of operations:
//
//   p  = e / sum(e)                     ds = p * (d - sum(p * d))
//      = e sum(e)^-1                       = e d sum(e)^-1 - e sum(e)^-2 sum(e d)
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_EXPORT_ATTENTION_SCORE_ALGEBRA_H
#define COLL_PASSES_EXPORT_ATTENTION_SCORE_ALGEBRA_H

#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace mlir::coll {

/// A product of powers.
struct ScoreTerm {
  int exponentials = 0;                    // the power of e
  int gradients = 0;                       // the power of d
  bool isMasked = false;                   // zero where the mask hides a key, as e is by itself
  std::map<std::pair<int, int>, int> sums; // sum(e^i d^j) of the row to a power, by i and j

  bool isOfRow() const { return exponentials == 0 && gradients == 0 && !isMasked; }
  bool operator<(const ScoreTerm &other) const {
    return std::tie(exponentials, gradients, isMasked, sums) <
           std::tie(other.exponentials, other.gradients, other.isMasked, other.sums);
  }
};

/// A sum of terms with factors; without terms it is zero.
class ScoreFormula {
public:
  static ScoreFormula number(double value);
  static ScoreFormula exponential();
  static ScoreFormula gradient();
  /// p = e / sum(e).
  static ScoreFormula probability();
  /// p * (d - sum(p * d)).
  static ScoreFormula scoreGradient();

  ScoreFormula operator+(const ScoreFormula &other) const;
  ScoreFormula operator*(const ScoreFormula &other) const;
  ScoreFormula operator*(double factor) const { return *this * number(factor); }
  /// nullopt if `other` is not a single term that is the same all along a row.
  std::optional<ScoreFormula> dividedBy(const ScoreFormula &other) const;
  /// nullopt if the sum has no form here.
  std::optional<ScoreFormula> summedOverRow() const;
  ScoreFormula masked() const;

  /// The value, if the formula is a number.
  std::optional<double> getNumber() const;
  /// c if this formula is c times `other`, up to rounding by `tolerance`.
  std::optional<double> getRatio(const ScoreFormula &other, double tolerance) const;

private:
  void add(const ScoreTerm &term, double factor);

  std::map<ScoreTerm, double> terms_;
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_ATTENTION_SCORE_ALGEBRA_H
