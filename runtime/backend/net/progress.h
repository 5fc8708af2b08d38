// progress.h - the thread that advances operations which ranks have started and do not test.
//
// A process has one for its ranks of a job, however many communicators they make. A rank that is in
// a call advances its operations itself, without a hand-over; the thread advances those of other
// ranks, and sleeps if there are none.

#ifndef COLL_RUNTIME_BACKEND_NET_PROGRESS_H
#define COLL_RUNTIME_BACKEND_NET_PROGRESS_H

#include "runtime/backend/net/idle.h"
#include "runtime/base/parker.h"
#include "runtime/base/status.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::rt::network {

class Progress {
public:
  // A rank, as the thread sees it.
  class Driven {
  public:
    // Nothing: nothing is in flight, or the rank is in a call.
    enum class Found { Nothing, Waiting, Moved };
    // One look at what is in flight; waits neither for peers nor for the rank.
    virtual Found look() = 0;

  protected:
    ~Driven() = default;
  };

  Progress() = default;
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  // Call it once, before a rank is added.
  Status start();

  // Any thread may call it. remove() blocks while the thread looks at a rank.
  void add(Driven &rank);
  void remove(Driven &rank);

  // A rank goes on without waiting for what it has in flight. Costs a fence and a load while the
  // thread is awake; it stays awake as long as something is in flight. Any thread may call it.
  void wake() { parker_.unpark(); }

private:
  void loop();
  Driven::Found lookAtAll();
  void sleep();

  std::mutex mutex_; // protects ranks_
  std::vector<Driven *> ranks_;
  Parker parker_;
  Idle idle_{/*spinUs=*/0}; // the cores belong to the computation
  std::atomic<bool> ending_{false};
  std::thread thread_; // last: it uses the others
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_PROGRESS_H
