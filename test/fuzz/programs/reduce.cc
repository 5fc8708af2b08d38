#include "test/fuzz/programs/operations.h"

namespace coll::fuzz {
namespace {

bool isWholeNumber(Dtype dtype) { return !isFloat(dtype); }

// The dimensions to reduce, ascending; `type` becomes what is left.
std::vector<int64_t> pickReduced(Generator &g, Type &type, int64_t &count) {
  std::vector<int64_t> dims, kept;
  for (size_t dim = 0; dim < type.shape.size(); ++dim) {
    if (g.random.chance(0.5)) {
      dims.push_back(int64_t(dim));
      count *= type.shape[dim];
    } else {
      kept.push_back(type.shape[dim]);
    }
  }
  type.shape = kept;
  return dims;
}

struct Combiner {
  const char *name;
  Facts facts; // of the result
};

// What combines `count` values like `each`, beginning with `start`.
Combiner pickCombiner(Generator &g, Dtype dtype, const Facts &each, const Facts &start,
                      int64_t count) {
  static const std::vector<const char *> kBitwise = {"and", "or", "xor"};
  if (dtype == Dtype::I1 || (isWholeNumber(dtype) && g.random.chance(0.2)))
    return {g.random.pick(kBitwise), dtype == Dtype::I1 ? factsOfWhole(1) : anyInteger(dtype)};
  if (isWholeNumber(dtype) && g.random.chance(0.15))
    return {"multiply", anyInteger(dtype)};
  Facts either = factsOfEither(each, start);
  if (g.random.chance(0.4))
    return {g.random.chance(0.5) ? "maximum" : "minimum", either};
  return {"add", factsOfTotal(dtype, either, count + 1)};
}

Region combine(Generator &g, const std::string &name, Dtype dtype, const Facts &facts) {
  Type scalar{dtype, {}};
  return g.nest({{scalar, facts}, {scalar, facts}}, [&](const std::vector<Id> &args) {
    bool isSwapped = g.random.chance(0.3);
    std::vector<Id> operands = {args[isSwapped], args[!isSwapped]};
    Node node{"stablehlo." + name, "", operands, {}, {}};
    return g.emitMany(std::move(node), {{scalar, facts}});
  });
}

// Mostly the combiner's identity, as front ends write it.
Id pickStart(Generator &g, Dtype dtype) {
  Type scalar{dtype, {}};
  return g.random.chance(0.6) ? g.addSplat(scalar, 0) : g.pickLike(scalar);
}

} // namespace

bool addReduce(Generator &g) {
  auto x = g.pick([](const Value &v) { return !v.type.shape.empty(); });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  Id start = pickStart(g, type.dtype);
  int64_t count = 1;
  std::vector<int64_t> dims = pickReduced(g, type, count);
  Combiner combiner = pickCombiner(g, type.dtype, g.factsOf(*x), g.factsOf(start), count);
  if (!rounded(type.dtype, combiner.facts))
    return false;
  Region body = combine(g, combiner.name, type.dtype, combiner.facts);
  return g
      .emit("stablehlo.reduce", "dimensions = " + array(dims), {*x, start}, type, combiner.facts,
            {body})
      .has_value();
}

// The largest value and the first place where it is: a reduction of two values at once.
bool addArgmax(Generator &g) {
  auto x = g.pick([](const Value &v) {
    return v.facts.isExact() && !v.type.shape.empty() && precisionOf(v.type.dtype) >= 7;
  });
  if (!x)
    return false;
  Type type = g.typeOf(*x), places{Dtype::I32, type.shape};
  std::optional<Facts> facts = rounded(type.dtype, factsOfEither(g.factsOf(*x), factsOfWhole(100)));
  if (!facts || !facts->isExact())
    return false;
  std::vector<Id> operands = {*x};
  size_t dim = size_t(g.random.below(int64_t(type.shape.size())));
  operands.push_back(*g.emit("stablehlo.iota", "iota_dimension = " + std::to_string(dim) + " : i64",
                             {}, places, factsOfWhole(double(type.shape[dim]))));
  operands.push_back(g.addSplat({type.dtype, {}}, isUnsigned(type.dtype) ? 0 : -100));
  operands.push_back(g.addSplat({Dtype::I32, {}}, 0));
  Value scalar{{type.dtype, {}}, *facts}, place{{Dtype::I32, {}}, factsOfWhole(12)};
  Region body = g.nest({scalar, place, scalar, place}, [&](const std::vector<Id> &a) {
    Value flag{{Dtype::I1, {}}, factsOfWhole(1)};
    auto add = [&](const char *name, std::string attributes, std::vector<Id> operands,
                   const Value &result) {
      return g.emitMany({name, std::move(attributes), std::move(operands), {}, {}}, {result})[0];
    };
    auto compare = [&](const char *direction, Id x, Id y) {
      return add("stablehlo.compare",
                 std::string("comparison_direction = #stablehlo<comparison_direction ") +
                     direction + ">",
                 {x, y}, flag);
    };
    Id larger = compare("GT", a[0], a[2]), equal = compare("EQ", a[0], a[2]);
    Id sooner = compare("LT", a[1], a[3]);
    Id first = add("stablehlo.and", "", {equal, sooner}, flag);
    Id keep = add("stablehlo.or", "", {larger, first}, flag);
    return std::vector<Id>{add("stablehlo.select", "", {keep, a[0], a[2]}, scalar),
                           add("stablehlo.select", "", {keep, a[1], a[3]}, place)};
  });
  type.shape.erase(type.shape.begin() + long(dim));
  g.emitMany({"stablehlo.reduce", "dimensions = " + array({int64_t(dim)}), operands, {}, {body}},
             {{type, *facts}, {{Dtype::I32, type.shape}, factsOfWhole(12)}});
  return true;
}

bool addReduceWindow(Generator &g) {
  auto x = g.pick([](const Value &v) { return !v.type.shape.empty() && v.type.shape.size() <= 3; });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  Id start = pickStart(g, type.dtype);
  std::vector<int64_t> windows, strides, base, dilations;
  std::vector<std::pair<int64_t, int64_t>> padding;
  int64_t count = 1;
  for (int64_t &extent : type.shape) {
    bool isPlain = g.random.chance(0.4);
    windows.push_back(isPlain ? 1 : g.random.between(1, 4));
    strides.push_back(isPlain || g.random.chance(0.6) ? 1 : g.random.between(2, 3));
    base.push_back(isPlain || g.random.chance(0.85) ? 1 : 2);
    dilations.push_back(isPlain || g.random.chance(0.85) ? 1 : 2);
    int64_t most = isPlain ? 0 : windows.back() - 1;
    padding.push_back({g.random.between(0, most), g.random.between(0, most)});
    count *= windows.back();
    int64_t spread = extent == 0 ? 0 : (extent - 1) * base.back() + 1;
    int64_t room = spread + padding.back().first + padding.back().second -
                   ((windows.back() - 1) * dilations.back() + 1);
    extent = room < 0 ? 0 : room / strides.back() + 1;
  }
  Combiner combiner = pickCombiner(g, type.dtype, g.factsOf(*x), g.factsOf(start), count);
  if (!rounded(type.dtype, combiner.facts))
    return false;
  Region body = combine(g, combiner.name, type.dtype, combiner.facts);
  return g
      .emit("stablehlo.reduce_window",
            "window_dimensions = " + array(windows) + ", window_strides = " + array(strides) +
                ", base_dilations = " + array(base) + ", window_dilations = " + array(dilations) +
                ", padding = " + pairs(padding),
            {*x, start}, type, combiner.facts, {body})
      .has_value();
}

// Which element a window selects must not depend on rounding: the operand is known exactly.
bool addPoolGradient(Generator &g) {
  auto x = g.pick([](const Value &v) {
    return !v.type.shape.empty() && v.type.shape.size() <= 3 && v.facts.isExact() &&
           v.type.dtype != Dtype::I1;
  });
  if (!x)
    return false;
  Type type = g.typeOf(*x), windowed = type, scalar{type.dtype, {}};
  std::vector<int64_t> windows, strides;
  std::vector<std::pair<int64_t, int64_t>> padding;
  int64_t count = 1;
  for (int64_t &extent : windowed.shape) {
    bool isPlain = g.random.chance(0.4);
    windows.push_back(isPlain ? 1 : g.random.between(1, 4));
    strides.push_back(isPlain || g.random.chance(0.4) ? 1 : g.random.between(2, 3));
    int64_t most = isPlain ? 0 : windows.back() - 1;
    padding.push_back({g.random.between(0, most), g.random.between(0, most)});
    count *= windows.back();
    int64_t room = extent + padding.back().first + padding.back().second - windows.back();
    extent = extent == 0 || room < 0 ? 0 : room / strides.back() + 1;
  }
  if (!isSmall(windowed))
    return false;
  Id source = g.pickLike(windowed);
  std::optional<Facts> facts =
      rounded(type.dtype, factsOfTotal(type.dtype, g.factsOf(source), count + 1));
  if (!facts)
    return false;
  Region select =
      g.nest({{scalar, g.factsOf(*x)}, {scalar, g.factsOf(*x)}}, [&](const std::vector<Id> &args) {
        Value flag{{Dtype::I1, {}}, factsOfWhole(1)};
        return g.emitMany({"stablehlo.compare",
                           "comparison_direction = "
                           "#stablehlo<comparison_direction GE>",
                           args,
                           {},
                           {}},
                          {flag});
      });
  Region scatter = combine(g, "add", type.dtype, *facts);
  return g
      .emit("stablehlo.select_and_scatter",
            "window_dimensions = " + array(windows) + ", window_strides = " + array(strides) +
                ", padding = " + pairs(padding),
            {*x, source, g.addSplat(scalar, 0)}, type, *facts, {select, scatter})
      .has_value();
}

} // namespace coll::fuzz
