// alarm.h - ends the kernels that wait on the GPUs of this process. Any thread that learns of a
// failure may call it.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_ALARM_H
#define COLL_RUNTIME_BACKEND_DIRECT_ALARM_H

#include "runtime/base/status.h"
#include "runtime/kernels/peer/group.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace coll::rt::direct {

// Shared by the ranks of a process: the failure of one ends the job. Any thread may call it.
class Alarm {
public:
  // Keeps the first cause. Every waiting kernel ends soon.
  void raise(const Status &cause) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (cause_.ok())
      cause_ = cause;
    for (kernels::PeerControl *control : controls_)
      set(control);
  }
  Status cause() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return cause_;
  }
  // Registers control words, by their host address, until remove().
  void add(kernels::PeerControl *control) {
    std::lock_guard<std::mutex> lock(mutex_);
    controls_.push_back(control);
    if (!cause_.ok())
      set(control);
  }
  void remove(kernels::PeerControl *control) {
    std::lock_guard<std::mutex> lock(mutex_);
    controls_.erase(std::remove(controls_.begin(), controls_.end(), control), controls_.end());
  }
  static void set(kernels::PeerControl *control) {
    __atomic_store_n(&control->abort, 1u, __ATOMIC_RELEASE);
  }

private:
  mutable std::mutex mutex_;
  Status cause_;
  std::vector<kernels::PeerControl *> controls_;
};

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_ALARM_H
