// shrink.h - makes a failing program small.

#ifndef COLL_TEST_FUZZ_PROGRAMS_SHRINK_H
#define COLL_TEST_FUZZ_PROGRAMS_SHRINK_H

#include "test/fuzz/programs/program.h"

#include <functional>

namespace coll::fuzz {

// Tries ever smaller programs for as long as `stillFails` holds: fewer results, nodes replaced by
// constants or by other values of their type, branches by what they yield, fewer
// splits and state. Returns the smallest one found. At most `budget` calls.
Program shrink(Program program, const std::function<bool(const Program &)> &stillFails, int budget);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_SHRINK_H
