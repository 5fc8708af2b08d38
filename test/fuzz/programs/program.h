// program.h - a random step as data: made by generator.h, printed for the compiler, and made
// smaller by shrink.h when it fails.

#ifndef COLL_TEST_FUZZ_PROGRAMS_PROGRAM_H
#define COLL_TEST_FUZZ_PROGRAMS_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace coll::fuzz {

enum class Dtype { F64, F32, F16, BF16, F8E4M3, F8E5M2, I64, I32, I16, I8, I4, I1, U64, U32, U8 };

bool isFloat(Dtype dtype);
bool isFloat8(Dtype dtype);
bool isUnsigned(Dtype dtype);
// "f32", as MLIR writes it.
const char *nameOf(Dtype dtype);
// Integers up to 2^precision are exact; of integer types, the largest value is below it.
int precisionOf(Dtype dtype);

struct Type {
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> shape;
  bool isScalar = false; // no tensor: only in the bodies of linalg

  int64_t numElements() const;
  // "tensor<2x3xf32>"
  std::string text() const;
  bool operator==(const Type &other) const {
    return dtype == other.dtype && shape == other.shape && isScalar == other.isScalar;
  }
};

// What is known of every element of a value. Values whose `quantum` is not 0 are its
// multiples, few enough to be exact in their type: whatever the order of the sums behind
// them, every run gives the same bits. Others differ by at most `error` between runs.
struct Facts {
  double bound = 0; // of the absolute value
  double quantum = 1;
  double error = 0;

  bool isExact() const { return quantum > 0; }
};

struct Value {
  Type type;
  Facts facts;
};

using Id = int; // index of Program::values

struct Region;

// An operation in generic form: `results = "name"(operands) <{attributes}> (regions)`.
struct Node {
  std::string name;
  std::string attributes;
  std::vector<Id> operands;
  std::vector<Id> results;
  std::vector<Region> regions;
};

struct Region {
  std::vector<Id> args;
  std::vector<Node> nodes;
  std::vector<Id> results;
  std::string terminator = "stablehlo.return";
};

struct Axis {
  std::string name;
  int64_t size = 1;
};

// How one dimension is split; no axes: not at all.
struct Split {
  std::vector<std::string> axes;
  int64_t unit = 1;
};
using Sharding = std::vector<Split>; // empty: none is written down

struct Program {
  std::vector<Value> values;
  Region body; // its first numState results update its first arguments
  int numState = 0;
  std::vector<Axis> mesh; // empty: data parallelism decides
  // Where it is not empty, shardings are written as JAX writes them, over this mesh; the axes
  // "x:(1)2" and "x:(2)3" of `mesh` are parts of its axis "x".
  std::vector<Axis> shardyMesh;
  std::vector<Sharding> argShardings;   // parallel to body.args
  std::vector<Sharding> stateShardings; // of results that update state; empty: none
  int64_t ranks = 1;

  // Whether two steps in a row keep all facts: state comes out as exact as it went in.
  bool isRepeatable() const;
  // The module: StableHLO in generic form, its mesh and its shardings.
  std::string text() const;
};

// `{"x", "y":(1)2}` for axes "x" and "y:(1)2"; `more` stands behind them.
std::string shardyAxes(const std::vector<std::string> &axes, const std::string &more = {});

// Removes nodes whose results are unused, and unused arguments that are not state.
void dropUnused(Program &program);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_PROGRAM_H
