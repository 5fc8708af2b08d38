// distribute.h - random ranks, meshes and shardings for a step.

#ifndef COLL_TEST_FUZZ_PROGRAMS_DISTRIBUTE_H
#define COLL_TEST_FUZZ_PROGRAMS_DISTRIBUTE_H

#include "test/fuzz/programs/program.h"
#include "test/fuzz/random.h"

namespace coll::fuzz {

// Chooses 1 to 6 ranks; then data parallelism, or a mesh with a sharding for every argument.
void distribute(Program &program, Random &random);

// Chooses a mesh of 1 to 4 axes, of which some have one rank and some are used in parts, up to 16
// ranks, a sharding for every argument, and constraints on values in between, as JAX writes them.
void distributeShardy(Program &program, Random &random);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_DISTRIBUTE_H
