//===- score_algebra.cc - what tensors of a softmax hold, as formulas -------------===//

#include "passes/export/attention/score_algebra.h"

#include <cmath>

using namespace mlir::coll;

void ScoreFormula::add(const ScoreTerm &term, double factor) {
  double &sum = terms_[term];
  sum += factor;
  if (sum == 0)
    terms_.erase(term);
}

ScoreFormula ScoreFormula::number(double value) {
  ScoreFormula formula;
  formula.add({}, value);
  return formula;
}

ScoreFormula ScoreFormula::exponential() {
  ScoreFormula formula;
  ScoreTerm term;
  term.exponentials = 1;
  formula.add(term, 1);
  return formula;
}

ScoreFormula ScoreFormula::gradient() {
  ScoreFormula formula;
  ScoreTerm term;
  term.gradients = 1;
  formula.add(term, 1);
  return formula;
}

ScoreFormula ScoreFormula::probability() {
  return *exponential().dividedBy(*exponential().summedOverRow());
}

ScoreFormula ScoreFormula::scoreGradient() {
  const ScoreFormula sum = *(probability() * gradient()).summedOverRow();
  return probability() * (gradient() + sum * -1);
}

ScoreFormula ScoreFormula::operator+(const ScoreFormula &other) const {
  ScoreFormula sum = *this;
  for (const auto &[term, factor] : other.terms_)
    sum.add(term, factor);
  return sum;
}

static ScoreTerm multiply(const ScoreTerm &a, const ScoreTerm &b) {
  ScoreTerm product = a;
  product.exponentials += b.exponentials;
  product.gradients += b.gradients;
  product.isMasked = (a.isMasked || b.isMasked) && product.exponentials == 0;
  for (const auto &[sum, power] : b.sums)
    if ((product.sums[sum] += power) == 0)
      product.sums.erase(sum);
  return product;
}

ScoreFormula ScoreFormula::operator*(const ScoreFormula &other) const {
  ScoreFormula product;
  for (const auto &[a, factorA] : terms_)
    for (const auto &[b, factorB] : other.terms_)
      product.add(multiply(a, b), factorA * factorB);
  return product;
}

std::optional<ScoreFormula> ScoreFormula::dividedBy(const ScoreFormula &other) const {
  if (other.terms_.size() != 1)
    return std::nullopt;
  auto [divisor, factor] = *other.terms_.begin();
  if (!divisor.isOfRow())
    return std::nullopt;
  ScoreTerm inverse;
  for (const auto &[sum, power] : divisor.sums)
    inverse.sums[sum] = -power;
  ScoreFormula reciprocal;
  reciprocal.add(inverse, 1 / factor);
  return *this * reciprocal;
}

std::optional<ScoreFormula> ScoreFormula::summedOverRow() const {
  ScoreFormula formula;
  for (const auto &[term, factor] : terms_) {
    // A factor that is constant along the row is moved out of the sum. A sum of such a factor alone
    // has no form, because the number of keys depends on the mask.
    if ((term.exponentials == 0 && term.gradients == 0) || term.isMasked)
      return std::nullopt;
    ScoreTerm summed;
    summed.sums = term.sums;
    if ((summed.sums[{term.exponentials, term.gradients}] += 1) == 0)
      summed.sums.erase({term.exponentials, term.gradients});
    formula.add(summed, factor);
  }
  return formula;
}

ScoreFormula ScoreFormula::masked() const {
  ScoreFormula formula;
  for (const auto &[term, factor] : terms_) {
    ScoreTerm hidden = term;
    hidden.isMasked = term.exponentials == 0;
    formula.add(hidden, factor);
  }
  return formula;
}

std::optional<double> ScoreFormula::getNumber() const {
  if (terms_.empty())
    return 0.0;
  const auto &[term, factor] = *terms_.begin();
  if (terms_.size() > 1 || !term.isOfRow() || !term.sums.empty())
    return std::nullopt;
  return factor;
}

std::optional<double> ScoreFormula::getRatio(const ScoreFormula &other, double tolerance) const {
  if (terms_.empty() || terms_.size() != other.terms_.size())
    return std::nullopt;
  const double ratio = terms_.begin()->second / other.terms_.begin()->second;
  for (auto mine = terms_.begin(), its = other.terms_.begin(); mine != terms_.end();
       ++mine, ++its) {
    bool isSameTerm = !(mine->first < its->first) && !(its->first < mine->first);
    if (!isSameTerm || std::abs(mine->second / its->second - ratio) > tolerance * std::abs(ratio))
      return std::nullopt;
  }
  return ratio;
}
