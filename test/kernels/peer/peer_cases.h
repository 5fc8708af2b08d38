// peer_cases.h - collectives of peer groups for the tests: random calls, their data, and the
// expected results, block by block.

#ifndef COLL_TEST_KERNELS_PEER_CASES_H
#define COLL_TEST_KERNELS_PEER_CASES_H

#include "runtime/base/dtype.h"
#include "runtime/kernels/peer/collectives.h"
#include "test/fuzz/random.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace coll::kernels::test {

using Bytes = std::vector<char>;
using Random = std::mt19937;
using Fast = fuzz::Random; // for data

enum class Op {
  AllReduce,
  ReduceScatter,
  Reduce,
  AllGather,
  AllToAll,
  Broadcast,
  Gather,
  Scatter,
  Permute,
  Barrier
};
constexpr Op kOps[] = {Op::AllReduce, Op::ReduceScatter, Op::Reduce,  Op::AllGather, Op::AllToAll,
                       Op::Broadcast, Op::Gather,        Op::Scatter, Op::Permute,   Op::Barrier};

// A call that all members make.
struct Case {
  Op op = Op::AllReduce;
  CollDtype dtype = kCollF32;
  CollReduction reduction = kCollSum;
  uint64_t count = 0; // elements of a block
  uint64_t outer = 1;
  uint64_t dstOuter = 1;
  uint32_t root = 0;
  bool inPlace = false;
  bool direct = false;
  uint32_t srcOffset = 0, dstOffset = 0; // of the buffers, from an aligned address
  PeerTuning tuning;
  std::vector<int32_t> pairs;

  std::string name() const;
  uint64_t blockBytes() const {
    return outer * count * static_cast<uint64_t>(rt::dtypeSize(dtype));
  }
  bool reduces() const { return op <= Op::Reduce; }
  // Returns true if it sums f32, f16 or bf16 in f32.
  bool sumsFloats() const;
  bool srcIsWide() const {
    return op == Op::ReduceScatter || op == Op::AllToAll || op == Op::Scatter;
  }
  bool dstIsWide() const { return op == Op::AllGather || op == Op::AllToAll || op == Op::Gather; }
};

// Draws at random everything that the arguments leave open.
Case randomCase(Random &random, uint32_t size, uint64_t maxBytes);

Bytes randomBytes(Fast &random, uint64_t bytes);
// Random bits. Floats that are reduced have moderate values, except for sums in f32, whose data
// includes NaN, infinities and subnormal numbers. Some values are those that packets reserve.
Bytes randomElements(Fast &random, const Case &c, uint64_t bytes);
// Only for types that sumsFloats() accepts. The hardware decides which NaN a sum yields.
bool isNan(CollDtype dtype, const char *at);

// Returns block j of a wide buffer as one piece; the next function puts it back.
Bytes blockOf(const Bytes &wide, const Case &c, uint64_t outer, uint32_t size, uint32_t j);
void putBlock(Bytes &wide, const Case &c, uint64_t outer, uint32_t size, uint32_t j,
              const Bytes &block);
// Returns the reduced result of all members' blocks.
Bytes reduced(const Case &c, const std::vector<const void *> &contributions);

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_PEER_CASES_H
