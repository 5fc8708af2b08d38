// backtrace.h - where a child process crashed, as told to its parent.

#ifndef COLL_TEST_FUZZ_BACKTRACE_H
#define COLL_TEST_FUZZ_BACKTRACE_H

#include <string>

namespace coll::fuzz {

// In the child, on the thread that runs the cases: a fatal signal of any thread writes its frames
// to `fd`.
void reportCrashesOn(int fd);
// On any other thread whose stack may overflow.
void useOwnSignalStack();

// In the parent, which has the same code at the same addresses: the functions on the
// stack, innermost first, `a < b < c`. Empty where the child wrote nothing.
std::string describeCrash(int fd);

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_BACKTRACE_H
