// explore.h - every interleaving of a protocol's ranks.
//
// The meaning of the operations, a second time and in the plainest way: it shares no code
// with the compiler's proof, takes no shortcut by symmetry, and tries every order of steps.

#ifndef COLL_TEST_FUZZ_RANKS_EXPLORE_H
#define COLL_TEST_FUZZ_RANKS_EXPLORE_H

#include "test/fuzz/ranks/protocol.h"

#include <optional>

namespace coll::fuzz {

// What can happen in some order of steps, in words; empty where every order ends well. Nothing
// where there are more than `maxStates` states.
std::optional<std::string> explore(const Protocol &protocol, size_t maxStates);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RANKS_EXPLORE_H
