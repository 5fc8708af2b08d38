// traces.h - the files that coll-trace reads, as inputs of data-fuzz.

#ifndef COLL_TEST_FUZZ_DATA_TRACES_H
#define COLL_TEST_FUZZ_DATA_TRACES_H

#include "test/fuzz/data/inputs.h"

#include <string>
#include <vector>

namespace coll::fuzz {

// Traces of a simulated rank, flight records, and Chakra's execution traces. `files` are examples
// beside those that are made here: Chakra's if the name ends in .et, flight records if it ends in
// .flight, traces if it ends in .pftrace.
std::vector<InputKind> makeTraceKinds(const std::vector<std::string> &files);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_DATA_TRACES_H
