// progress.h - the thread that advances operations that ranks have started and do not test.
//
// A process has one for its ranks of a job, however many communicators they create. A rank that is
// in a call advances its operations itself, without the cost of another thread; the thread advances
// those of other ranks, and sleeps if there are none.

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
  // The thread's interface to a rank.
  class Driven {
  public:
    // Nothing: nothing is in flight, or the rank is in a call.
    enum class Found { Nothing, Waiting, Moved };
    // Advances what is in flight once; waits neither for peers nor for the rank.
    virtual Found look() = 0;

  protected:
    ~Driven() = default;
  };

  Progress() = default;
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  // Call it once, before adding a rank.
  Status start();

  // Any thread may call these. remove() blocks while the thread advances a rank.
  void add(Driven &rank);
  void remove(Driven &rank);

  // Called when a rank continues without waiting for its requests in flight. Costs a fence and a
  // load while the thread is awake; it stays awake as long as something is in flight. Any thread
  // may call it.
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
  std::thread thread_; // last, because it uses the other members
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_PROGRESS_H
