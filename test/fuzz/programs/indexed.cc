#include "test/fuzz/programs/operations.h"

namespace coll::fuzz {
namespace {

std::optional<Id> pickTable(Generator &g) {
  return g.pick([](const Value &v) {
    return !v.type.shape.empty() && v.type.shape.size() <= 3 && v.type.numElements() > 0;
  });
}

// How a table is addressed: which of its dimensions an index names, which of those
// vanish, and where the window's dimensions go.
struct Access {
  std::vector<int64_t> indexed, collapsed, window, sizes; // window: dimensions that stay
  std::vector<int64_t> batch;                             // extents
  std::vector<int64_t> places;                            // of the window, in what is accessed
  std::vector<int64_t> shape;                             // of what is accessed
  Type indices;
};

Dtype pickIndexType(Generator &g) {
  static const std::vector<Dtype> kRare = {Dtype::I64, Dtype::I64, Dtype::U32, Dtype::I8,
                                           Dtype::U8};
  return g.random.chance(0.75) ? Dtype::I32 : g.random.pick(kRare);
}

Access randomAccess(Generator &g, const Type &table, bool needsWhole) {
  Access access;
  for (size_t dim = 0; dim < table.shape.size(); ++dim) {
    bool isIndexed = g.random.chance(0.5);
    bool isCollapsed = isIndexed && g.random.chance(0.7);
    int64_t size = isCollapsed ? 1 : table.shape[dim];
    if (!isCollapsed && isIndexed && !needsWhole)
      size = g.random.between(1, table.shape[dim]);
    if (isIndexed)
      access.indexed.push_back(int64_t(dim));
    (isCollapsed ? access.collapsed : access.window).push_back(int64_t(dim));
    access.sizes.push_back(size);
  }
  if (g.random.chance(0.2))
    g.random.shuffle(access.indexed);
  for (int64_t i = g.random.between(0, 2); i > 0; --i)
    access.batch.push_back(g.randomExtent());
  size_t rank = access.batch.size() + access.window.size();
  access.places = g.random.permutation(rank);
  access.places.resize(access.window.size());
  std::sort(access.places.begin(), access.places.end());
  access.shape.assign(rank, -1);
  for (size_t i = 0; i < access.window.size(); ++i)
    access.shape[size_t(access.places[i])] = access.sizes[size_t(access.window[i])];
  size_t next = 0;
  for (int64_t &extent : access.shape)
    extent = extent < 0 ? access.batch[next++] : extent;
  access.indices = {pickIndexType(g), access.batch};
  access.indices.shape.push_back(int64_t(access.indexed.size()));
  return access;
}

struct NamedFacts {
  std::string name;
  Facts facts;
};

// What writes into a table combine by, and what comes of values like `each`.
NamedFacts pickScatterCombiner(Generator &g, const Type &updates, const Facts &each) {
  if (updates.dtype == Dtype::I1)
    return {g.random.chance(0.5) ? "or" : "xor", each};
  if (g.random.chance(0.6))
    return {"add", factsOfTotal(updates.dtype, each, updates.numElements() + 1)};
  return {g.random.chance(0.5) ? "maximum" : "minimum", each};
}

Id pickIndex(Generator &g, Dtype dtype) { return g.pickLike({dtype, {}}); }

} // namespace

bool addGather(Generator &g) {
  auto x = pickTable(g);
  if (!x)
    return false;
  Access access = randomAccess(g, g.typeOf(*x), false);
  if (!isSmall(access.indices))
    return false;
  Id indices = g.pickLike(access.indices);
  std::string numbers =
      "dimension_numbers = #stablehlo.gather<offset_dims = " + list(access.places) +
      ", collapsed_slice_dims = " + list(access.collapsed) +
      ", start_index_map = " + list(access.indexed) +
      ", index_vector_dim = " + std::to_string(access.batch.size()) +
      ">, slice_sizes = " + array(access.sizes) + ", indices_are_sorted = false";
  return g
      .emit("stablehlo.gather", numbers, {*x, indices}, {g.typeOf(*x).dtype, access.shape},
            g.factsOf(*x))
      .has_value();
}

bool addScatter(Generator &g) {
  auto x = pickTable(g);
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  Access access = randomAccess(g, type, g.random.chance(0.7));
  Type updates{type.dtype, access.shape};
  if (!isSmall(updates) || !isSmall(access.indices))
    return false;
  // Several inputs of the same shape, each with its own combiner.
  Id indices = g.pickLike(access.indices);
  std::vector<Id> inputs = {*x};
  if (g.random.chance(0.2))
    inputs.push_back(g.pickLike({g.randomDtype(), type.shape}));
  std::vector<Id> sources;
  std::vector<std::string> names;
  std::vector<Value> results, scalars;
  for (Id input : inputs) {
    updates.dtype = g.typeOf(input).dtype;
    sources.push_back(g.pickLike(updates));
    auto [name, facts] =
        pickScatterCombiner(g, updates, factsOfEither(g.factsOf(input), g.factsOf(sources.back())));
    std::optional<Facts> fitting = rounded(updates.dtype, facts);
    if (!fitting)
      return false;
    names.push_back("stablehlo." + name);
    results.push_back({g.typeOf(input), *fitting});
    scalars.push_back({{updates.dtype, {}}, facts});
  }
  std::vector<Value> twice = scalars;
  twice.insert(twice.end(), scalars.begin(), scalars.end());
  Region body = g.nest(twice, [&](const std::vector<Id> &args) {
    std::vector<Id> combined;
    for (size_t i = 0; i < inputs.size(); ++i)
      combined.push_back(
          g.emitMany({names[i], "", {args[i], args[inputs.size() + i]}, {}, {}}, {scalars[i]})[0]);
    return combined;
  });
  std::string numbers =
      "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = " + list(access.places) +
      ", inserted_window_dims = " + list(access.collapsed) +
      ", scatter_dims_to_operand_dims = " + list(access.indexed) +
      ", index_vector_dim = " + std::to_string(access.batch.size()) +
      ">, unique_indices = false, indices_are_sorted = false";
  std::vector<Id> all = inputs;
  all.push_back(indices);
  all.insert(all.end(), sources.begin(), sources.end());
  g.emitMany({"stablehlo.scatter", numbers, all, {}, {body}}, results);
  return true;
}

bool addDynamicSlice(Generator &g) {
  auto x = pickTable(g);
  if (!x)
    return false;
  Type type = g.typeOf(*x);
  std::vector<Id> operands = {*x};
  Dtype index = pickIndexType(g);
  for (int64_t &extent : type.shape) {
    operands.push_back(pickIndex(g, index));
    extent = g.random.chance(0.4) ? extent : g.random.between(1, extent);
  }
  return g
      .emit("stablehlo.dynamic_slice", "slice_sizes = " + array(type.shape), operands, type,
            g.factsOf(*x))
      .has_value();
}

bool addDynamicUpdateSlice(Generator &g) {
  auto x = pickTable(g);
  if (!x)
    return false;
  Type type = g.typeOf(*x), update = type;
  for (int64_t &extent : update.shape)
    extent = g.random.chance(0.4) ? extent : g.random.between(1, extent);
  std::vector<Id> operands = {*x, g.pickLike(update)};
  Dtype index = pickIndexType(g);
  for (size_t dim = 0; dim < type.shape.size(); ++dim)
    operands.push_back(pickIndex(g, index));
  return g
      .emit("stablehlo.dynamic_update_slice", "", operands, type,
            factsOfEither(g.factsOf(*x), g.factsOf(operands[1])))
      .has_value();
}

} // namespace coll::fuzz
