// minimize.h - makes a failing text small.

#ifndef COLL_TEST_FUZZ_IR_MINIMIZE_H
#define COLL_TEST_FUZZ_IR_MINIMIZE_H

#include <functional>
#include <string>

namespace coll::fuzz {

// Leaves out lines, in ever smaller pieces, for as long as `stillFails` holds. At most
// `budget` calls.
std::string minimizeText(const std::string &text, int budget,
                         const std::function<bool(const std::string &)> &stillFails);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_IR_MINIMIZE_H
