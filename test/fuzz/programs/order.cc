// Sorting, and bits that look like no order at all.

#include "test/fuzz/programs/operations.h"

namespace coll::fuzz {
namespace {

// Ties and order must be the same in every run.
std::optional<Id> pickKey(Generator &g) {
  return g.pick([](const Value &v) { return v.facts.isExact() && !v.type.shape.empty(); });
}

} // namespace

// One operand decides the order, up to two others follow it.
bool addSort(Generator &g) {
  auto key = pickKey(g);
  if (!key)
    return false;
  std::vector<int64_t> shape = g.typeOf(*key).shape;
  std::vector<Id> operands = {*key};
  for (int64_t i = g.random.between(0, 2); i > 0; --i)
    operands.push_back(g.pickLike({g.randomDtype(), shape}));
  size_t place = size_t(g.random.below(int64_t(operands.size())));
  std::swap(operands[0], operands[place]);
  std::vector<Value> results, scalars;
  for (Id id : operands) {
    results.push_back(g.value(id));
    scalars.insert(scalars.end(), 2, {{g.typeOf(id).dtype, {}}, g.factsOf(id)});
  }
  std::string direction = g.random.chance(0.6) ? "LT" : "GT";
  Region before = g.nest(scalars, [&](const std::vector<Id> &args) {
    return g.emitMany({"stablehlo.compare",
                       "comparison_direction = #stablehlo<comparison_direction " + direction + ">",
                       {args[2 * place], args[2 * place + 1]},
                       {},
                       {}},
                      {{{Dtype::I1, {}}, factsOfWhole(1)}});
  });
  size_t dim = size_t(g.random.below(int64_t(shape.size())));
  g.emitMany({"stablehlo.sort",
              "dimension = " + std::to_string(dim) + " : i64, is_stable = true",
              operands,
              {},
              {before}},
             results);
  return true;
}

bool addTopK(Generator &g) {
  auto x = pickKey(g);
  if (!x || g.typeOf(*x).dtype == Dtype::I1)
    return false;
  Type type = g.typeOf(*x);
  int64_t &last = type.shape.back();
  Facts place = factsOfWhole(double(last));
  last = g.random.between(last > 0 ? 1 : 0, last);
  g.emitMany({"chlo.top_k", "k = " + std::to_string(last) + " : i64", {*x}, {}, {}},
             {{type, g.factsOf(*x)}, {{Dtype::I32, type.shape}, place}});
  return true;
}

bool addRandomBits(Generator &g) {
  static const std::vector<Dtype> kDtypes = {Dtype::U32, Dtype::U32, Dtype::U64, Dtype::U8};
  bool isThreefry = g.random.chance(0.5);
  Type state{Dtype::U64, {isThreefry ? 2 : g.random.between(2, 3)}};
  Type bits{g.random.pick(kDtypes), g.randomShape(3)};
  g.emitMany({"stablehlo.rng_bit_generator",
              std::string("rng_algorithm = #stablehlo<rng_algorithm ") +
                  (isThreefry ? "THREE_FRY" : "PHILOX") + ">",
              {g.pickLike(state)},
              {},
              {}},
             {{state, anyInteger(state.dtype)}, {bits, anyInteger(bits.dtype)}});
  return true;
}

} // namespace coll::fuzz
