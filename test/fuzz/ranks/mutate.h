// mutate.h - small changes of rank programs, many of which are wrong then.

#ifndef COLL_TEST_FUZZ_RANKS_MUTATE_H
#define COLL_TEST_FUZZ_RANKS_MUTATE_H

#include "test/fuzz/random.h"
#include "test/fuzz/ranks/protocol.h"

namespace coll::fuzz {

// Drops, repeats, swaps, moves or redirects an operation, changes its tag, type, direction
// or replica, makes it asynchronous or blocking, waits for it a round later, or changes how often a
// loop runs; on all ranks of a class or on one. Requests are still waited for once.
void mutate(Protocol &protocol, Random &random);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RANKS_MUTATE_H
