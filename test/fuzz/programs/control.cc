#include "test/fuzz/programs/operations.h"

namespace coll::fuzz {
namespace {

constexpr int kMaxDepth = 2;
const Value kCounter{{Dtype::I32, {}}, factsOfWhole(8)};

// A value of `like`'s type whose facts are no worse; `fallback` where there is none.
Id pickNoWorse(Generator &g, const Value &like, Id fallback) {
  auto found = g.pick([&](const Value &v) {
    return v.type == like.type && v.facts.bound <= like.facts.bound &&
           v.facts.quantum >= like.facts.quantum && v.facts.error <= like.facts.error;
  });
  return found.value_or(fallback);
}

Id emitScalar(Generator &g, const char *name, std::string attributes, std::vector<Id> operands,
              const Value &result) {
  return g.emitMany(
      {std::string("stablehlo.") + name, std::move(attributes), std::move(operands), {}, {}},
      {result})[0];
}

// What a loop carries: any values; in their types, with room for what the body makes.
std::vector<Id> pickCarried(Generator &g) {
  std::vector<Id> carried;
  for (int64_t i = g.random.between(1, 3); i > 0; --i)
    carried.push_back(*g.pick([](const Value &) { return true; }));
  return carried;
}

// The loop's counter comes first or last.
std::vector<Id> withCounter(std::vector<Id> values, Id counter, bool isFirst) {
  values.insert(isFirst ? values.begin() : values.end(), counter);
  return values;
}

} // namespace

bool addWhile(Generator &g) {
  if (g.depth() >= kMaxDepth)
    return false;
  bool isFirst = g.random.chance(0.5);
  std::vector<Id> operands = pickCarried(g);
  Id zero = g.addSplat({Dtype::I32, {}}, 0);
  operands = withCounter(std::move(operands), zero, isFirst);
  size_t place = isFirst ? 0 : operands.size() - 1;
  std::vector<Value> carried;
  for (Id id : operands)
    carried.push_back(g.value(id));
  carried[place] = kCounter;
  int64_t trips = g.random.between(0, 4);

  Region condition = g.nest(carried, [&](const std::vector<Id> &args) {
    Id end = g.addSplat({Dtype::I32, {}}, double(trips));
    return std::vector<Id>{emitScalar(g, "compare",
                                      "comparison_direction = #stablehlo<comparison_direction LT>",
                                      {args[place], end}, {{Dtype::I1, {}}, factsOfWhole(1)})};
  });
  Region body = g.nest(carried, [&](const std::vector<Id> &args) {
    g.addNodes(int(g.random.between(1, 5)));
    std::vector<Id> next;
    for (size_t i = 0; i < args.size(); ++i)
      next.push_back(i == place ? args[i] : pickNoWorse(g, carried[i], args[i]));
    Id one = g.addSplat({Dtype::I32, {}}, 1);
    next[place] = emitScalar(g, "add", "", {args[place], one}, kCounter);
    return next;
  });
  g.emitMany({"stablehlo.while", "", operands, {}, {condition, body}}, carried);
  return true;
}

// if and case: branches that give values of the same types.
bool addBranch(Generator &g) {
  if (g.depth() >= kMaxDepth)
    return false;
  bool isCase = g.random.chance(0.4);
  Id which = g.pickLike({isCase ? Dtype::I32 : Dtype::I1, {}});
  std::vector<Value> results;
  for (int64_t i = g.random.between(1, 2); i > 0; --i)
    results.push_back(g.value(*g.pick([](const Value &) { return true; })));
  std::vector<Region> branches;
  for (int64_t i = isCase ? g.random.between(1, 3) : 2; i > 0; --i)
    branches.push_back(g.nest({}, [&](const std::vector<Id> &) {
      g.addNodes(int(g.random.between(0, 3)));
      std::vector<Id> yielded;
      for (Value &result : results) {
        Id id = g.pickLike(result.type);
        result.facts = factsOfEither(result.facts, g.factsOf(id));
        yielded.push_back(id);
      }
      return yielded;
    }));
  // With different branches on different ranks' data the predicate must be the same in
  // every run; integers and booleans are.
  g.emitMany({isCase ? "stablehlo.case" : "stablehlo.if", "", {which}, {}, branches}, results);
  return true;
}

const std::vector<Operation> &allOperations() {
  static const std::vector<Operation> kOperations = {{addUnary, 10},
                                                     {addBinary, 14},
                                                     {addIntegerBinary, 4},
                                                     {addDivide, 3},
                                                     {addCompare, 4},
                                                     {addSelect, 5},
                                                     {addClamp, 2},
                                                     {addConvert, 6},
                                                     {addLogical, 2},
                                                     {addBroadcast, 8},
                                                     {addTranspose, 6},
                                                     {addReshape, 8},
                                                     {addSlice, 6},
                                                     {addPad, 5},
                                                     {addConcatenate, 6},
                                                     {addReverse, 3},
                                                     {addIota, 3},
                                                     {addReduce, 12},
                                                     {addArgmax, 2},
                                                     {addReduceWindow, 3},
                                                     {addPoolGradient, 3},
                                                     {addDotGeneral, 10},
                                                     {addConvolution, 4},
                                                     {addGather, 5},
                                                     {addScatter, 5},
                                                     {addDynamicSlice, 4},
                                                     {addDynamicUpdateSlice, 3},
                                                     {addSort, 4},
                                                     {addTopK, 2},
                                                     {addRandomBits, 2},
                                                     {addWhile, 4},
                                                     {addBranch, 4},
                                                     {addLinalg, 6, true},
                                                     {addArith, 3, true},
                                                     {addExtractSlice, 2, true},
                                                     {addInsertSlice, 2, true},
                                                     {addTensorConcat, 1, true}};
  return kOperations;
}

} // namespace coll::fuzz
