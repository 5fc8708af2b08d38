// facts.h - how far results may differ between two runs of one program.
//
// Each function gives the facts of an operation's result, before it is rounded to its
// type. Bounds are worst cases: a difference beyond them is a wrong result, not noise.

#ifndef COLL_TEST_FUZZ_PROGRAMS_FACTS_H
#define COLL_TEST_FUZZ_PROGRAMS_FACTS_H

#include "test/fuzz/programs/program.h"

#include <optional>

namespace coll::fuzz {

// Facts of `dtype` values that are computed with these; nullopt where they could overflow
// or differ by so much that a comparison would say nothing.
std::optional<Facts> rounded(Dtype dtype, Facts facts);

// Any value of an integer type.
Facts anyInteger(Dtype dtype);

Facts factsOfSum(const Facts &a, const Facts &b);
Facts factsOfProduct(const Facts &a, const Facts &b);
// One of the two.
Facts factsOfEither(const Facts &a, const Facts &b);
// The sum of `count` values, rounded to `dtype` after each addition or not at all.
Facts factsOfTotal(Dtype dtype, const Facts &each, int64_t count);
// f(x) for an f that grows by at most `slope` and stays within `bound`; rounded once to
// `dtype`, a few units in its last place.
Facts factsOfSmooth(Dtype dtype, const Facts &x, double slope, double bound);
// A whole number, known exactly.
Facts factsOfWhole(double bound);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_PROGRAMS_FACTS_H
