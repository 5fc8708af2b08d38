#include "test/fuzz/programs/operations.h"

#include <cmath>

namespace coll::fuzz {
namespace {

bool isFloatValue(const Value &value) { return isFloat(value.type.dtype); }
bool isIntegerValue(const Value &value) {
  return !isFloat(value.type.dtype) && value.type.dtype != Dtype::I1;
}

// A function that is smooth within `domain`.
struct Smooth {
  const char *name;
  double domain;
  double slope;
  double bound;
};
constexpr Smooth kSmooth[] = {
    {"tanh", 1e9, 1, 1},  {"logistic", 1e9, 0.25, 1}, {"sine", 50, 1, 1},
    {"cosine", 50, 1, 1}, {"exponential", 3, 21, 21}, {"exponential_minus_one", 3, 21, 21},
};

bool addSmooth(Generator &g, Id x) {
  const Smooth &smooth = kSmooth[g.random.below(6)];
  if (g.factsOf(x).bound > smooth.domain)
    return false;
  Facts facts = factsOfSmooth(g.typeOf(x).dtype, g.factsOf(x), smooth.slope, smooth.bound);
  return g.emit(std::string("stablehlo.") + smooth.name, "", {x}, g.typeOf(x), facts).has_value();
}

// Functions of |x| + 1, where they have neither poles nor steep places.
bool addSmoothOfPositive(Generator &g, Id x) {
  Type type = g.typeOf(x);
  auto positive = g.emit("stablehlo.abs", "", {x}, type, g.factsOf(x));
  if (!positive)
    return false;
  Id one = g.addSplat(type, 1);
  auto shifted = g.emit("stablehlo.add", "", {*positive, one}, type,
                        factsOfSum(g.factsOf(x), factsOfWhole(1)));
  if (!shifted)
    return false;
  static constexpr Smooth kOfPositive[] = {
      {"sqrt", 0, 0.5, 0}, {"rsqrt", 0, 0.5, 1}, {"log", 0, 1, 0}, {"log_plus_one", 0, 0.5, 0}};
  const Smooth &smooth = kOfPositive[g.random.below(4)];
  double bound = smooth.bound > 0 ? smooth.bound : g.factsOf(*shifted).bound;
  Facts facts = factsOfSmooth(type.dtype, g.factsOf(*shifted), smooth.slope, bound);
  return g.emit(std::string("stablehlo.") + smooth.name, "", {*shifted}, type, facts).has_value();
}

// Functions with steps: only of values that are the same in every run.
bool addStep(Generator &g, Id x) {
  static const std::vector<const char *> kNames = {"floor", "ceil", "sign", "round_nearest_even",
                                                   "round_nearest_afz"};
  if (!g.factsOf(x).isExact())
    return false;
  Facts facts = g.factsOf(x);
  facts.bound += 1;
  facts.quantum = std::max(facts.quantum, 1.0);
  return g.emit(std::string("stablehlo.") + g.random.pick(kNames), "", {x}, g.typeOf(x), facts)
      .has_value();
}

bool addIntegerUnary(Generator &g, Id x) {
  static const std::vector<const char *> kNames = {"negate", "abs",    "not",
                                                   "sign",   "popcnt", "count_leading_zeros"};
  static const std::vector<const char *> kUnsigned = {"negate", "not", "popcnt",
                                                      "count_leading_zeros"};
  Type type = g.typeOf(x);
  const char *name = g.random.pick(isUnsigned(type.dtype) ? kUnsigned : kNames);
  return g.emit(std::string("stablehlo.") + name, "", {x}, type, anyInteger(type.dtype))
      .has_value();
}

} // namespace

bool addUnary(Generator &g) {
  auto x = g.pick([](const Value &v) { return v.type.dtype != Dtype::I1; });
  if (!x)
    return false;
  if (!isFloat(g.typeOf(*x).dtype))
    return addIntegerUnary(g, *x);
  switch (g.random.below(4)) {
  case 0:
    return addSmooth(g, *x);
  case 1:
    return addSmoothOfPositive(g, *x);
  case 2:
    return addStep(g, *x);
  default:
    return g
        .emit(g.random.chance(0.5) ? "stablehlo.negate" : "stablehlo.abs", "", {*x}, g.typeOf(*x),
              g.factsOf(*x))
        .has_value();
  }
}

bool addBinary(Generator &g) {
  auto x = g.pick([](const Value &v) { return v.type.dtype != Dtype::I1; });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  Id y = g.random.chance(0.1) ? *x : g.pickLike(type);
  if (g.random.chance(0.5))
    std::swap(*x, y);
  const Facts &a = g.factsOf(*x), &b = g.factsOf(y);
  switch (g.random.below(5)) {
  case 0:
    return g.emit("stablehlo.multiply", "", {*x, y}, type, factsOfProduct(a, b)).has_value();
  case 1:
    return g
        .emit("stablehlo.subtract", "", {*x, y}, type,
              isUnsigned(type.dtype) ? anyInteger(type.dtype) : factsOfSum(a, b))
        .has_value();
  case 2:
    return g.emit("stablehlo.maximum", "", {*x, y}, type, factsOfEither(a, b)).has_value();
  case 3:
    return g.emit("stablehlo.minimum", "", {*x, y}, type, factsOfEither(a, b)).has_value();
  default:
    return g.emit("stablehlo.add", "", {*x, y}, type, factsOfSum(a, b)).has_value();
  }
}

bool addIntegerBinary(Generator &g) {
  static const std::vector<const char *> kNames = {"and",
                                                   "or",
                                                   "xor",
                                                   "divide",
                                                   "remainder",
                                                   "shift_left",
                                                   "shift_right_logical",
                                                   "shift_right_arithmetic"};
  auto x = g.pick(isIntegerValue);
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  return g
      .emit(std::string("stablehlo.") + g.random.pick(kNames), "", {*x, g.pickLike(type)}, type,
            anyInteger(type.dtype))
      .has_value();
}

// x / (|y| + 1), or by a power of two.
bool addDivide(Generator &g) {
  auto x = g.pick(isFloatValue);
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  if (g.random.chance(0.5)) {
    Facts facts = g.factsOf(*x);
    facts = {facts.bound / 4, facts.quantum / 4, facts.error / 4};
    return g.emit("stablehlo.divide", "", {*x, g.addSplat(type, 4)}, type, facts).has_value();
  }
  Id y = g.pickLike(type);
  Facts a = g.factsOf(*x), b = g.factsOf(y);
  auto positive = g.emit("stablehlo.abs", "", {y}, type, b);
  if (!positive)
    return false;
  Id one = g.addSplat(type, 1);
  auto shifted =
      g.emit("stablehlo.add", "", {*positive, one}, type, factsOfSum(b, factsOfWhole(1)));
  if (!shifted)
    return false;
  Facts facts{a.bound, 0, a.error + a.bound * g.factsOf(*shifted).error};
  return g.emit("stablehlo.divide", "", {*x, *shifted}, type, facts).has_value();
}

bool addCompare(Generator &g) {
  static const std::vector<const char *> kDirections = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  auto x = g.pick([](const Value &v) { return v.facts.isExact(); });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  Id y = g.pickLike(type);
  if (!g.factsOf(y).isExact())
    return false;
  std::string attributes = std::string("comparison_direction = #stablehlo<comparison_direction ") +
                           g.random.pick(kDirections) + ">";
  return g.emit("stablehlo.compare", attributes, {*x, y}, {Dtype::I1, type.shape}, factsOfWhole(1))
      .has_value();
}

bool addSelect(Generator &g) {
  auto x = g.pick([](const Value &) { return true; });
  Type type = g.typeOf(*x);
  Id y = g.pickLike(type);
  bool isScalar = g.random.chance(0.2);
  Id which = g.pickLike({Dtype::I1, isScalar ? std::vector<int64_t>() : type.shape});
  return g
      .emit("stablehlo.select", "", {which, *x, y}, type,
            factsOfEither(g.factsOf(*x), g.factsOf(y)))
      .has_value();
}

bool addClamp(Generator &g) {
  auto x = g.pick([](const Value &v) { return v.type.dtype != Dtype::I1; });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  Type bounds = type;
  if (g.random.chance(0.5))
    bounds.shape.clear();
  Id low = g.pickLike(bounds), high = g.pickLike(bounds);
  Facts facts = factsOfEither(g.factsOf(*x), factsOfEither(g.factsOf(low), g.factsOf(high)));
  return g.emit("stablehlo.clamp", "", {low, *x, high}, type, facts).has_value();
}

bool addConvert(Generator &g) {
  Dtype to = g.randomDtype();
  auto x = g.pick([&](const Value &v) {
    bool needsExact = isFloat(v.type.dtype) && !isFloat(to);
    bool fits = v.facts.bound < std::ldexp(1.0, precisionOf(to)) && !isUnsigned(to);
    fits |= to == Dtype::I1;
    return v.type.dtype != to && (!needsExact || (v.facts.isExact() && fits));
  });
  if (!x)
    return false;
  Facts facts = g.factsOf(*x);
  if (!isFloat(to))
    facts = to == Dtype::I1 ? factsOfWhole(1) : facts;
  if (isUnsigned(to) && !isUnsigned(g.typeOf(*x).dtype) && g.typeOf(*x).dtype != Dtype::I1)
    facts = anyInteger(to);
  return g.emit("stablehlo.convert", "", {*x}, {to, g.typeOf(*x).shape}, facts).has_value();
}

bool addLogical(Generator &g) {
  static const std::vector<const char *> kNames = {"and", "or", "xor", "not"};
  auto x = g.pick([](const Value &v) { return v.type.dtype == Dtype::I1; });
  if (!x)
    return false;
  std::string name = g.random.pick(kNames);
  std::vector<Id> operands = {*x};
  if (name != "not")
    operands.push_back(g.pickLike(g.typeOf(*x)));
  return g.emit("stablehlo." + name, "", operands, g.typeOf(*x), factsOfWhole(1)).has_value();
}

} // namespace coll::fuzz
