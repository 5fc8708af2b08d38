#include "test/fuzz/programs/operations.h"

namespace coll::fuzz {
namespace {

std::optional<Id> pickRanked(Generator &g) {
  return g.pick([](const Value &v) { return !v.type.shape.empty(); });
}

bool isAnything(const Value &) { return true; }

// The prime factors of the number of elements, dealt to a random number of dimensions.
std::vector<int64_t> randomFactors(Random &random, int64_t elements) {
  std::vector<int64_t> shape(size_t(random.between(elements == 1 ? 0 : 1, 4)), 1);
  if (elements == 0)
    shape[size_t(random.below(int64_t(shape.size())))] = 0;
  for (int64_t prime = 2; elements > 1; ++prime)
    for (; elements % prime == 0; elements /= prime)
      shape[size_t(random.below(int64_t(shape.size())))] *= prime;
  return shape;
}

// Merges or splits neighbours, so that what is sharded may stay so.
std::vector<int64_t> randomRegrouping(Random &random, std::vector<int64_t> shape) {
  if (shape.size() >= 2 && random.chance(0.5)) {
    size_t dim = size_t(random.below(int64_t(shape.size()) - 1));
    shape[dim] *= shape[dim + 1];
    shape.erase(shape.begin() + long(dim) + 1);
    return shape;
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t divisor = random.between(1, 4);
    if (shape[dim] % divisor || random.chance(0.5))
      continue;
    shape[dim] /= divisor;
    shape.insert(shape.begin() + long(dim) + random.below(2), divisor);
    break;
  }
  return shape;
}

} // namespace

bool addBroadcast(Generator &g) {
  auto x = g.pick([](const Value &v) { return v.type.shape.size() <= 3; });
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  size_t rank = type.shape.size() + size_t(g.random.between(0, 4 - int64_t(type.shape.size())));
  std::vector<int64_t> shape(rank), where = g.random.permutation(rank);
  where.resize(type.shape.size());
  if (g.random.chance(0.7))
    std::sort(where.begin(), where.end());
  for (int64_t &extent : shape)
    extent = g.random.chance(0.2) ? 1 : g.randomExtent();
  for (size_t dim = 0; dim < where.size(); ++dim)
    if (type.shape[dim] != 1 || g.random.chance(0.5))
      shape[size_t(where[dim])] = type.shape[dim];
  return g
      .emit("stablehlo.broadcast_in_dim", "broadcast_dimensions = " + array(where), {*x},
            {type.dtype, shape}, g.factsOf(*x))
      .has_value();
}

bool addTranspose(Generator &g) {
  auto x = pickRanked(g);
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  std::vector<int64_t> order = g.random.permutation(type.shape.size()), shape;
  for (int64_t dim : order)
    shape.push_back(type.shape[size_t(dim)]);
  return g
      .emit("stablehlo.transpose", "permutation = " + array(order), {*x}, {type.dtype, shape},
            g.factsOf(*x))
      .has_value();
}

bool addReshape(Generator &g) {
  auto x = g.pick(isAnything);
  Type type = g.typeOf(*x);
  std::vector<int64_t> shape = g.random.chance(0.5) ? randomRegrouping(g.random, type.shape)
                                                    : randomFactors(g.random, type.numElements());
  return g.emit("stablehlo.reshape", "", {*x}, {type.dtype, shape}, g.factsOf(*x)).has_value();
}

bool addSlice(Generator &g) {
  auto x = pickRanked(g);
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  std::vector<int64_t> starts, limits, strides;
  for (int64_t &extent : type.shape) {
    bool isWhole = g.random.chance(0.4);
    starts.push_back(isWhole ? 0 : g.random.between(0, extent));
    limits.push_back(isWhole ? extent : g.random.between(starts.back(), extent));
    if (limits.back() == starts.back() && starts.back() < extent && g.random.chance(0.8))
      ++limits.back();
    strides.push_back(g.random.chance(0.3) ? g.random.between(1, 3) : 1);
    extent = (limits.back() - starts.back() + strides.back() - 1) / strides.back();
  }
  return g
      .emit("stablehlo.slice",
            "start_indices = " + array(starts) + ", limit_indices = " + array(limits) +
                ", strides = " + array(strides),
            {*x}, type, g.factsOf(*x))
      .has_value();
}

bool addPad(Generator &g) {
  auto x = pickRanked(g);
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  Id padding = g.pickLike({type.dtype, {}});
  std::vector<int64_t> low, high, interior;
  for (int64_t &extent : type.shape) {
    bool isWhole = g.random.chance(0.4);
    interior.push_back(isWhole || g.random.chance(0.7) ? 0 : g.random.between(1, 2));
    int64_t spread = extent + std::max<int64_t>(extent - 1, 0) * interior.back();
    low.push_back(isWhole ? 0 : g.random.between(-1, 3));
    high.push_back(isWhole ? 0 : g.random.between(-1, 3));
    if (spread + low.back() + high.back() < 0)
      low.back() = high.back() = 0;
    extent = spread + low.back() + high.back();
  }
  return g
      .emit("stablehlo.pad",
            "edge_padding_low = " + array(low) + ", edge_padding_high = " + array(high) +
                ", interior_padding = " + array(interior),
            {*x, padding}, type, factsOfEither(g.factsOf(*x), g.factsOf(padding)))
      .has_value();
}

bool addConcatenate(Generator &g) {
  auto x = pickRanked(g);
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  size_t dim = size_t(g.random.below(int64_t(type.shape.size())));
  std::vector<Id> operands = {*x};
  Facts facts = g.factsOf(*x);
  int64_t extent = type.shape[dim];
  for (int64_t i = g.random.between(0, 2); i > 0; --i) {
    Type other = type;
    other.shape[dim] = g.random.chance(0.6) ? type.shape[dim] : g.randomExtent();
    operands.push_back(g.pickLike(other));
    facts = factsOfEither(facts, g.factsOf(operands.back()));
    extent += other.shape[dim];
  }
  type.shape[dim] = extent;
  return g
      .emit("stablehlo.concatenate", "dimension = " + std::to_string(dim) + " : i64", operands,
            type, facts)
      .has_value();
}

bool addReverse(Generator &g) {
  auto x = pickRanked(g);
  if (!x)
    return false;
  std::vector<int64_t> dims = g.random.permutation(g.typeOf(*x).shape.size());
  dims.resize(size_t(g.random.between(0, int64_t(dims.size()))));
  return g
      .emit("stablehlo.reverse", "dimensions = " + array(dims), {*x}, g.typeOf(*x), g.factsOf(*x))
      .has_value();
}

bool addIota(Generator &g) {
  Type type{g.randomDtype(), g.randomShape(3)};
  if (type.shape.empty() || type.dtype == Dtype::I1)
    return false;
  size_t dim = size_t(g.random.below(int64_t(type.shape.size())));
  return g
      .emit("stablehlo.iota", "iota_dimension = " + std::to_string(dim) + " : i64", {}, type,
            factsOfWhole(double(type.shape[dim])))
      .has_value();
}

} // namespace coll::fuzz
