// files.h - work on many files at once.

#ifndef COLL_TOOLS_COLL_TRACE_FILES_H
#define COLL_TOOLS_COLL_TRACE_FILES_H

#include <cstddef>
#include <functional>

namespace coll::trace {

// How many threads reading so many files is worth: between 1 and 16.
size_t threadsFor(size_t files);

// Calls work(file, thread) for each file below `files`. Each of `threads` threads, of which the
// caller is number 0, takes the next file that no other has taken, so a file begins no sooner than
// those before it. Where the system gives fewer threads, fewer do the work.
void forEachFile(size_t files, size_t threads,
                 const std::function<void(size_t file, size_t thread)> &work);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_FILES_H
