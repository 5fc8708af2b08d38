// check.h - IR that may be anything, through everything that the tools do with it.

#ifndef COLL_TEST_FUZZ_IR_CHECK_H
#define COLL_TEST_FUZZ_IR_CHECK_H

#include "test/fuzz/guard.h"
#include "test/fuzz/random.h"
#include "test/fuzz/runner.h"

namespace coll::fuzz {

// What coll-run does: import, distribute (over a few ranks where the text does not say how
// many), verify, compile, and, where it is small, run, with the single device beside
// it. Different results are a finding; so is everything that the guard catches.
Report checkStep(Runner &runner, const std::string &text, Random random);

// What coll-opt does: some passes of coll in any order.
Report checkPasses(Runner &runner, const std::string &text, Random random);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_IR_CHECK_H
