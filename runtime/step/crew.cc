#include "runtime/step/crew.h"

#include "runtime/base/thread.h"

namespace coll::rt {

Result<std::unique_ptr<Crew>> Crew::create(int size) {
  std::unique_ptr<Crew> crew(new Crew());
  for (int i = 0; i < size; ++i)
    COLL_RETURN_IF_ERROR(startThread(crew->threads_.emplace_back(),
                                     "rank " + std::to_string(i) + " of " + std::to_string(size) +
                                         " in this process",
                                     [self = crew.get(), i] { self->loop(i); }));
  return crew;
}

Crew::~Crew() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    task_ = nullptr;
    ++round_;
  }
  begin_.notify_all();
  for (std::thread &thread : threads_)
    if (thread.joinable())
      thread.join();
}

void Crew::run(const std::function<void(int)> &task) {
  if (threads_.empty())
    return task(0);
  std::unique_lock<std::mutex> lock(mutex_);
  task_ = &task;
  running_ = static_cast<int>(threads_.size());
  ++round_;
  begin_.notify_all();
  end_.wait(lock, [&] { return running_ == 0; });
}

void Crew::loop(int index) {
  uint64_t seen = 0;
  while (true) {
    const std::function<void(int)> *task = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      begin_.wait(lock, [&] { return round_ != seen; });
      seen = round_;
      task = task_;
    }
    if (!task)
      return;
    (*task)(index);
    std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0)
      end_.notify_one();
  }
}

} // namespace coll::rt
