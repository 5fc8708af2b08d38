// generator.h - makes random steps, one operation at a time.
//
// A Generator holds the program so far and what is in scope. Each `add…` function of
// operations.h adds one operation, or returns false where nothing in scope suits it.

#ifndef COLL_TEST_FUZZ_PROGRAMS_GENERATOR_H
#define COLL_TEST_FUZZ_PROGRAMS_GENERATOR_H

#include "test/fuzz/programs/facts.h"
#include "test/fuzz/programs/program.h"
#include "test/fuzz/random.h"

#include <functional>
#include <optional>

namespace coll::fuzz {

class Generator {
public:
  explicit Generator(Random &random);

  // The program; call it once.
  Program generate();

  Random random;

  const Value &value(Id id) const { return program_.values[size_t(id)]; }
  const Type &typeOf(Id id) const { return value(id).type; }
  const Facts &factsOf(Id id) const { return value(id).facts; }

  // A value in scope for which `suits` holds; recent ones are likelier.
  using Suits = std::function<bool(const Value &)>;
  std::optional<Id> pick(const Suits &suits);
  // A value of this type: one in scope, a constant, or a new argument.
  Id pickLike(const Type &type);
  Id addConstant(const Type &type);
  Id addSplat(const Type &type, double number);
  Id addArgument(const Type &type);

  Dtype randomDtype();
  // At most `maxRank` dimensions, some of extent 0 or 1, and a bounded product.
  std::vector<int64_t> randomShape(int maxRank);
  int64_t randomExtent();

  // Adds a node with one result. Nothing is added, and nullopt returned, where the
  // facts do not fit the type.
  std::optional<Id> emit(std::string name, std::string attributes, std::vector<Id> operands,
                         Type type, const Facts &facts, std::vector<Region> regions = {});
  // Adds a node with several results.
  std::vector<Id> emitMany(Node node, const std::vector<Value> &results);

  // A region whose nodes `fill` adds; what it adds to the scope ends with it.
  Region nest(const std::vector<Value> &args,
              const std::function<std::vector<Id>(const std::vector<Id> &)> &fill);
  // Adds up to `count` random nodes in the present region.
  void addNodes(int count);
  int depth() const { return depth_; }

private:
  Id addValue(const Value &value);
  void decideState();
  void decideResults();

  Program program_;
  Region *region_; // where nodes are added
  std::vector<Id> scope_;
  int depth_ = 0;
  bool isUpstream_; // operations of MLIR alone: a step of level L0, not StableHLO
};

// Whether operations may make values of this type.
bool isSmall(const Type &type);
// "array<i64: 1, 2>"
std::string array(const std::vector<int64_t> &numbers);
// "dense<[[1, 2], [0, 0]]> : tensor<2x2xi64>"
std::string pairs(const std::vector<std::pair<int64_t, int64_t>> &numbers);
// "[1, 2]"
std::string list(const std::vector<int64_t> &numbers);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_GENERATOR_H
