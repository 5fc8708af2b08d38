#include "runtime/base/thread.h"

#include <exception>

namespace coll::rt {

Status startThread(std::thread &thread, const std::string &purpose, std::function<void()> body) {
  try {
    thread = std::thread(std::move(body));
    return {};
  } catch (const std::exception &error) { // std::system_error, or std::bad_alloc
    return {kCollDevice, "cannot start a thread for " + purpose + ": " + error.what() +
                             "; raise the limit on threads (ulimit -u, pids.max of the cgroup) or "
                             "on memory (ulimit -v), or start fewer ranks"};
  }
}

} // namespace coll::rt
