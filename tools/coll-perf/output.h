// output.h - exit codes and output files of a command.

#ifndef COLL_TOOLS_COLL_PERF_OUTPUT_H
#define COLL_TOOLS_COLL_PERF_OUTPUT_H

#include "runtime/base/status.h"

#include <string>

namespace coll::perf {

// The exit code where nothing could be measured here; the reason was printed.
inline constexpr int kSkipped = 77;

// Prints the error (only on rank 0 if all ranks have the same) or, for kCollUnsupported, that the
// measurement was skipped. Returns the exit code: 2 for a wrong command line, kSkipped, or 1.
int fail(const rt::Status &status, int rank = 0);

// Returns why no file can be written there, or "". Checks output options before a measurement whose
// results could not be written.
std::string whyNotWritable(const std::string &path);

// Appends all of the text or nothing, even if others append to the file at the same time.
rt::Status appendToFile(const std::string &path, const std::string &text);

// Replaces the file's content by all of the text or not at all: the old file stays until the text
// is complete.
rt::Status replaceFile(const std::string &path, const std::string &text);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OUTPUT_H
