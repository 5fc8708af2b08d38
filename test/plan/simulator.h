// simulator.h - executes plans of reshards on numbers, with a buffer for each rank.

#ifndef COLL_TEST_PLAN_SIMULATOR_H
#define COLL_TEST_PLAN_SIMULATOR_H

#include "plan/reshard.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace coll::plan::test {

using Random = std::mt19937_64;
int64_t below(Random &random, int64_t bound); // 0 to bound - 1

struct ReshardCase {
  Mesh mesh;
  Reshard reshard;
};
std::string describe(const ReshardCase &reshard);

Mesh meshOf(const std::vector<int64_t> &sizes); // axes a, b, c, d
// Meshes of one to `axes` axes, including axes of size 1; tensors of up to three dimensions,
// including uneven and empty ones; some layouts are partial.
ReshardCase randomCase(Random &random, int axes = 4);
Layout randomLayout(Random &random, const Mesh &mesh, const std::vector<int64_t> &shape);

// Fills the ranks' buffers by the source's layout with random numbers, including padding, executes
// the moves and compares with the target's layout. Returns what is wrong; empty if every rank has
// what it should. Counts the bytes that the moves send.
std::string simulate(const ReshardCase &reshard, const std::vector<Move> &moves, Random &random,
                     int64_t &wireBytes);

} // namespace coll::plan::test

#endif // COLL_TEST_PLAN_SIMULATOR_H
