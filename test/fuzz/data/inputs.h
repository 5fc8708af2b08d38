// inputs.h - what data-fuzz mutates, and what reads it.

#ifndef COLL_TEST_FUZZ_DATA_INPUTS_H
#define COLL_TEST_FUZZ_DATA_INPUTS_H

#include "test/fuzz/guard.h"

#include <string>
#include <vector>

namespace coll::fuzz {

// A kind of input: valid examples, and the function that must survive any other.
struct InputKind {
  std::string name, suffix;
  std::vector<std::string> examples;
  Report (*check)(const std::string &bytes);
};

// Archives of arrays, whole; archives whose checksums hold around one bad array; headers of
// arrays; descriptors of programs; command lines of coll-run, one word a line.
std::vector<InputKind> makeInputKinds();

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_DATA_INPUTS_H
