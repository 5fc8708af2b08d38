// pipeline.h - right pipeline programs.

#ifndef COLL_TEST_FUZZ_RANKS_PIPELINE_H
#define COLL_TEST_FUZZ_RANKS_PIPELINE_H

#include "test/fuzz/random.h"
#include "test/fuzz/ranks/protocol.h"

namespace coll::fuzz {

// Stages that pass micro-batches on: GPipe, 1F1B, two chunks per stage, or a ring. Nothing
// hangs and nothing mismatches.
Protocol makePipeline(Random &random);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RANKS_PIPELINE_H
