// crew.h - threads that repeatedly run the same task together.

#ifndef COLL_RUNTIME_STEP_CREW_H
#define COLL_RUNTIME_STEP_CREW_H

#include "runtime/base/parker.h"
#include "runtime/base/status.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace coll::rt {

// The members live as long as the crew: threads, of which the first may be the caller's own.
class Crew {
public:
  enum class First {
    Thread, // all members are threads of the crew
    Caller  // member 0 is the thread that calls run(), so that one thread less has to wake up
  };
  static Result<std::unique_ptr<Crew>> create(int size, First first = First::Thread);
  ~Crew();
  Crew(const Crew &) = delete;
  Crew &operator=(const Crew &) = delete;

  // Calls task(i) on member i, for every i < size, and blocks until all have returned.
  // The task must not throw. One call at a time.
  void run(const std::function<void(int)> &task);

private:
  struct Member {
    Parker parker;
    std::thread thread;
  };

  Crew(int size, First first);
  void loop(Member &self, int index);
  void begin(const std::function<void(int)> *task);
  // Polls for a moment and then sleeps until `condition` holds. The thread that makes it true calls
  // unpark().
  template <typename Condition>
  void wait(Parker &parker, Condition condition) const;

  const bool callerTakesPart_;
  const int64_t pollUs_;                           // 0 if members would take cores from each other
  const std::function<void(int)> *task_ = nullptr; // null: end the thread; published by round_
  std::atomic<uint64_t> round_{0};
  std::atomic<int> running_{0}; // threads that have not returned yet
  Parker end_;
  std::vector<std::unique_ptr<Member>> members_; // the threads
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_CREW_H
