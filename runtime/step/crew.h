// crew.h - threads that repeatedly run the same task together.

#ifndef COLL_RUNTIME_STEP_CREW_H
#define COLL_RUNTIME_STEP_CREW_H

#include "runtime/base/status.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::rt {

// `size` threads that live as long as the crew, or the thread of the caller.
class Crew {
public:
  static Result<std::unique_ptr<Crew>> create(int size);
  // One member, which is the thread that calls run().
  static std::unique_ptr<Crew> createOfCaller() { return std::unique_ptr<Crew>(new Crew()); }
  ~Crew();
  Crew(const Crew &) = delete;
  Crew &operator=(const Crew &) = delete;

  // Calls task(i) on thread i, for every i < size, and blocks until all have returned.
  // The task must not throw.
  void run(const std::function<void(int)> &task);

private:
  Crew() = default;
  void loop(int index);

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(int)> *task_ = nullptr; // null: end the thread
  uint64_t round_ = 0;
  int running_ = 0;
  std::vector<std::thread> threads_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_CREW_H
