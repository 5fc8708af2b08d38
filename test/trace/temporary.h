// temporary.h - a folder for the files of the tests, and the options of main().

#ifndef COLL_TEST_TRACE_TEMPORARY_H
#define COLL_TEST_TRACE_TEMPORARY_H

#include <cstdint>
#include <string>

namespace coll::trace::test {

inline int faults = 120;      // --faults=N
inline int mutants = 5000;    // --mutants=N: of a Chakra file; a tenth of them of a trace
inline uint64_t seed = 1;     // --seed=N, of the mutants
inline std::string mutantsOf; // --mutants-of=FILE: the trace; else one that is simulated

// Made by main(), which also removes it.
std::string folder();

} // namespace coll::trace::test

#endif // COLL_TEST_TRACE_TEMPORARY_H
