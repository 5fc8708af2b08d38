// differential.h - a random step on its ranks beside the same step on one device.

#ifndef COLL_TEST_FUZZ_PROGRAMS_DIFFERENTIAL_H
#define COLL_TEST_FUZZ_PROGRAMS_DIFFERENTIAL_H

#include "test/fuzz/guard.h"
#include "test/fuzz/programs/program.h"
#include "test/fuzz/runner.h"

namespace coll::fuzz {

// Compiles and runs the program both ways and compares all results: exact ones bit for
// bit, others within what their facts allow. Inputs come from the seed. Everything but
// agreement is a finding: the program is valid.
Report checkProgram(Runner &runner, const Program &program, uint64_t seed);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_DIFFERENTIAL_H
