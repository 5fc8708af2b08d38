// distribute.h - random ranks, meshes and shardings for a step.

#ifndef COLL_TEST_FUZZ_PROGRAMS_DISTRIBUTE_H
#define COLL_TEST_FUZZ_PROGRAMS_DISTRIBUTE_H

#include "test/fuzz/programs/program.h"
#include "test/fuzz/random.h"

namespace coll::fuzz {

// Chooses 1 to 6 ranks; then data parallelism, or a mesh with a sharding for every argument.
void distribute(Program &program, Random &random);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_DISTRIBUTE_H
