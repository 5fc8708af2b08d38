// thread.h - starts threads without exceptions: if a process may start no more threads, the caller
// gets a status. All threads of the runtime start here (tools/lint/check_threads.py).

#ifndef COLL_RUNTIME_BASE_THREAD_H
#define COLL_RUNTIME_BASE_THREAD_H

#include "runtime/base/status.h"

#include <functional>
#include <string>
#include <thread>

namespace coll::rt {

// Starts `thread`, which holds none yet, with `body`. `purpose` completes "cannot start a thread
// for …". kCollDevice if the system refuses: a limit on threads, or no memory for another stack.
Status startThread(std::thread &thread, const std::string &purpose, std::function<void()> body);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_THREAD_H
