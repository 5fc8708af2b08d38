// Operations of linalg, tensor and arith, as a user writes them by hand. The importer
// leaves them as they are.

#include "test/fuzz/programs/operations.h"

namespace coll::fuzz {
namespace {

std::string dims(const std::vector<std::string> &exprs) {
  std::string text = "(";
  for (size_t i = 0; i < exprs.size(); ++i)
    text += (i ? ", " : "") + exprs[i];
  return text + ")";
}

std::string loop(size_t i) { return "d" + std::to_string(i); }

Type scalarOf(Dtype dtype) { return {dtype, {}, true}; }

// A nest of loops, and one operand after the other that walks some of them.
struct Nest {
  std::vector<int64_t> extents;
  std::vector<std::string> maps;

  std::string head() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < extents.size(); ++i)
      names.push_back(loop(i));
    return dims(names);
  }
  // The operand's shape.
  std::vector<int64_t> walk(const std::vector<int64_t> &loops) {
    std::vector<std::string> exprs;
    std::vector<int64_t> shape;
    for (int64_t i : loops) {
      exprs.push_back(loop(size_t(i)));
      shape.push_back(extents[size_t(i)]);
    }
    maps.push_back("affine_map<" + head() + " -> " + dims(exprs) + ">");
    return shape;
  }
  // A window that two loops walk, perhaps with a remainder.
  std::vector<int64_t> walkWindow(Random &random, size_t outer, size_t inner) {
    int64_t stride = random.between(1, 3);
    maps.push_back("affine_map<" + head() + " -> (" + loop(outer) + " * " + std::to_string(stride) +
                   " + " + loop(inner) + ")>");
    return {(extents[outer] - 1) * stride + extents[inner] + random.between(0, stride)};
  }
};

// Some of the loops, in any order.
std::vector<int64_t> someLoops(Random &random, size_t count, double probability) {
  std::vector<int64_t> loops;
  for (int64_t i : random.permutation(count))
    if (random.chance(probability))
      loops.push_back(i);
  if (random.chance(0.6))
    std::sort(loops.begin(), loops.end());
  return loops;
}

struct Step {
  const char *floats, *integers;
  bool isProduct;
};
constexpr Step kProduct{"arith.mulf", "arith.muli", true}, kSum{"arith.addf", "arith.addi", false};
constexpr Step kMaximum{"arith.maximumf", "arith.maxsi", false};

Id addScalar(Generator &g, const Step &step, Id a, Id b, const Facts &facts) {
  Dtype dtype = g.typeOf(a).dtype;
  return g.emitMany({isFloat(dtype) ? step.floats : step.integers, "", {a, b}, {}, {}},
                    {{scalarOf(dtype), facts}})[0];
}

std::string linalgAttributes(const Nest &nest, const std::vector<int64_t> &result) {
  std::string maps, iterators;
  for (const std::string &map : nest.maps)
    maps += (maps.empty() ? "" : ", ") + map;
  for (size_t i = 0; i < nest.extents.size(); ++i) {
    bool isParallel = std::count(result.begin(), result.end(), int64_t(i)) > 0;
    iterators += std::string(i ? ", " : "") + "#linalg.iterator_type<" +
                 (isParallel ? "parallel" : "reduction") + ">";
  }
  return "indexing_maps = [" + maps + "], iterator_types = [" + iterators +
         "], operandSegmentSizes = array<i32: 2, 1>";
}

} // namespace

bool addLinalg(Generator &g) {
  static const std::vector<Dtype> kDtypes = {Dtype::F32,  Dtype::F32, Dtype::F64,
                                             Dtype::BF16, Dtype::I32, Dtype::I64};
  Dtype dtype = g.random.pick(kDtypes);
  Nest nest;
  for (int64_t i = g.random.between(1, 4); i > 0; --i)
    nest.extents.push_back(g.random.between(1, 7));
  size_t count = nest.extents.size();
  // The first input walks all loops, so that each has an extent.
  Type left{dtype, nest.walk(g.random.permutation(count))}, right{dtype, {}};
  if (count >= 2 && g.random.chance(0.3))
    right.shape = nest.walkWindow(g.random, 0, 1);
  else
    right.shape = nest.walk(someLoops(g.random, count, 0.6));
  std::vector<int64_t> kept = someLoops(g.random, count, 0.5);
  Type type{dtype, nest.walk(kept)};
  if (!isSmall(left) || !isSmall(right))
    return false;
  int64_t rounds =
      std::max<int64_t>(left.numElements() / std::max<int64_t>(type.numElements(), 1), 1);
  Id a = g.pickLike(left), b = g.pickLike(right), start = g.pickLike(type);
  const Step &inner = g.random.chance(0.6) ? kProduct : kSum;
  const Step &outer = g.random.chance(0.7) ? kSum : kMaximum;
  Facts each = inner.isProduct ? factsOfProduct(g.factsOf(a), g.factsOf(b))
                               : factsOfSum(g.factsOf(a), g.factsOf(b));
  Facts facts = factsOfEither(each, g.factsOf(start));
  if (&outer == &kSum)
    facts = factsOfTotal(dtype, facts, rounds + 1);
  else if (!each.isExact())
    facts = factsOfTotal(dtype, facts, 2);
  if (!rounded(dtype, facts))
    return false;
  Region body = g.nest(
      {{scalarOf(dtype), g.factsOf(a)}, {scalarOf(dtype), g.factsOf(b)}, {scalarOf(dtype), facts}},
      [&](const std::vector<Id> &args) {
        Id term = addScalar(g, inner, args[0], args[1], each);
        return std::vector<Id>{addScalar(g, outer, args[2], term, facts)};
      });
  body.terminator = "linalg.yield";
  return g.emit("linalg.generic", linalgAttributes(nest, kept), {a, b, start}, type, facts, {body})
      .has_value();
}

bool addArith(Generator &g) {
  static const std::vector<Step> kSteps = {kProduct,
                                           kSum,
                                           kMaximum,
                                           {"arith.subf", "arith.subi", false},
                                           {"arith.minimumf", "arith.minsi", false}};
  auto x = g.pick([](const Value &v) { return v.type.dtype != Dtype::I1; });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  Id y = g.pickLike(type);
  const Step &step = g.random.pick(kSteps);
  Facts facts = step.isProduct ? factsOfProduct(g.factsOf(*x), g.factsOf(y))
                               : factsOfSum(g.factsOf(*x), g.factsOf(y));
  return g.emit(isFloat(type.dtype) ? step.floats : step.integers, "", {*x, y}, type, facts)
      .has_value();
}

bool addExtractSlice(Generator &g) {
  auto x = g.pick([](const Value &v) { return !v.type.shape.empty() && v.type.numElements() > 0; });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  std::vector<int64_t> offsets, sizes, strides;
  for (int64_t extent : type.shape) {
    bool isWhole = g.random.chance(0.4);
    strides.push_back(isWhole || g.random.chance(0.7) ? 1 : 2);
    offsets.push_back(isWhole ? 0 : g.random.below(extent));
    int64_t most = (extent - offsets.back() + strides.back() - 1) / strides.back();
    sizes.push_back(isWhole ? extent : g.random.between(1, most));
  }
  type.shape.clear();
  for (int64_t size : sizes)
    if (size != 1 || g.random.chance(0.6))
      type.shape.push_back(size);
  std::string attributes =
      "static_offsets = " + array(offsets) + ", static_sizes = " + array(sizes) +
      ", static_strides = " + array(strides) + ", operandSegmentSizes = array<i32: 1, 0, 0, 0>";
  return g.emit("tensor.extract_slice", attributes, {*x}, type, g.factsOf(*x)).has_value();
}

bool addInsertSlice(Generator &g) {
  auto x = g.pick([](const Value &v) { return !v.type.shape.empty() && v.type.numElements() > 0; });
  if (!x)
    return false;
  Type type = g.typeOf(*x), source{type.dtype, {}};
  std::vector<int64_t> offsets, strides(type.shape.size(), 1);
  for (int64_t extent : type.shape) {
    source.shape.push_back(g.random.chance(0.4) ? extent : g.random.between(1, extent));
    offsets.push_back(g.random.between(0, extent - source.shape.back()));
  }
  Id piece = g.pickLike(source);
  std::string attributes =
      "static_offsets = " + array(offsets) + ", static_sizes = " + array(source.shape) +
      ", static_strides = " + array(strides) + ", operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>";
  return g
      .emit("tensor.insert_slice", attributes, {piece, *x}, type,
            factsOfEither(g.factsOf(*x), g.factsOf(piece)))
      .has_value();
}

bool addTensorConcat(Generator &g) {
  auto x = g.pick([](const Value &v) { return !v.type.shape.empty(); });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  size_t dim = size_t(g.random.below(int64_t(type.shape.size())));
  Id y = g.pickLike(type);
  Type whole = type;
  whole.shape[dim] *= 2;
  return g
      .emit("tensor.concat", "dim = " + std::to_string(dim) + " : i64", {*x, y}, whole,
            factsOfEither(g.factsOf(*x), g.factsOf(y)))
      .has_value();
}

} // namespace coll::fuzz
