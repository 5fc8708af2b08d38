// output.h - what a command leaves behind: its exit code, and files.

#ifndef COLL_TOOLS_COLL_PERF_OUTPUT_H
#define COLL_TOOLS_COLL_PERF_OUTPUT_H

#include "runtime/base/status.h"

#include <string>

namespace coll::perf {

// The exit code where nothing could be measured here; the reason was printed.
inline constexpr int kSkipped = 77;

// Says what went wrong (rank 0 does, where all ranks know), or, for kCollUnsupported, that it was
// skipped. Returns the exit code: 2 for a wrong command line, kSkipped, or 1.
int fail(const rt::Status &status, int rank = 0);

// Why no file can be written there, or "": for options, so that nobody measures in vain.
std::string whyNotWritable(const std::string &path);

// As a whole or not at all, also where others append to the file at the same time.
rt::Status appendToFile(const std::string &path, const std::string &text);

// As a whole or not at all: until the text is complete, the old file stays.
rt::Status replaceFile(const std::string &path, const std::string &text);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OUTPUT_H
