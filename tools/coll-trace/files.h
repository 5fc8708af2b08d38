// files.h - processes many files in parallel.

#ifndef COLL_TOOLS_COLL_TRACE_FILES_H
#define COLL_TOOLS_COLL_TRACE_FILES_H

#include <cstddef>
#include <functional>

namespace coll::trace {

// The number of threads, from 1 to 16, that is worth using for so many files.
size_t threadsFor(size_t files);

// Calls work(file, thread) for each file below `files`. Each of `threads` threads (the caller is
// number 0) takes the next free file, so a file begins no sooner than those before it. If the
// system gives fewer threads, fewer do the work.
void forEachFile(size_t files, size_t threads,
                 const std::function<void(size_t file, size_t thread)> &work);

} // namespace coll::trace

#endif // COLL_TOOLS_COLL_TRACE_FILES_H
