//===- thread_pool.cc - threads that the system may refuse ------------------------===//

#include "passes/thread_pool.h"

#include "llvm/ADT/STLExtras.h"

namespace mlir::coll {

ThreadPool::ThreadPool(unsigned count)
    : maxThreads_(llvm::hardware_concurrency(count).compute_thread_count()) {}

ThreadPool::~ThreadPool() {
  wait();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    isEnding_ = true;
  }
  hasTask_.notify_all();
  for (pthread_t thread : threads_)
    pthread_join(thread, nullptr);
}

void *ThreadPool::runThread(void *pool) {
  auto &self = *static_cast<ThreadPool *>(pool);
  std::unique_lock<std::mutex> lock(self.mutex_);
  for (;;) {
    ++self.numIdle_;
    self.hasTask_.wait(lock, [&] { return self.isEnding_ || !self.queue_.empty(); });
    --self.numIdle_;
    if (self.queue_.empty())
      return nullptr;
    self.runLocked(self.queue_.begin(), lock);
  }
}

void ThreadPool::asyncEnqueue(llvm::unique_function<void()> body,
                              llvm::ThreadPoolTaskGroup *group) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back({std::move(body), group});
    growLocked();
  }
  hasTask_.notify_one();
}

/// Starts a thread if the idle ones are too few for the queue.
void ThreadPool::growLocked() {
  if (isRefused_ || threads_.size() == maxThreads_ || queue_.size() <= numIdle_)
    return;
  pthread_t thread;
  isRefused_ = pthread_create(&thread, nullptr, runThread, this) != 0;
  if (!isRefused_)
    threads_.push_back(thread);
}

/// Runs a task of the queue without the lock.
void ThreadPool::runLocked(std::deque<Task>::iterator task, std::unique_lock<std::mutex> &lock) {
  Task own = std::move(*task);
  queue_.erase(task);
  ++running_[own.group];
  ++numRunning_;
  lock.unlock();
  own.body();
  own.body = nullptr; // with what it holds, before anyone learns that it has ended
  lock.lock();
  --numRunning_;
  if (--running_[own.group] == 0)
    running_.erase(own.group);
  hasEnded_.notify_all();
}

void ThreadPool::waitFor(llvm::ThreadPoolTaskGroup *group) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    auto next =
        llvm::find_if(queue_, [&](const Task &task) { return !group || task.group == group; });
    if (next != queue_.end())
      runLocked(next, lock);
    else if (group ? running_.contains(group) : numRunning_ > 0)
      hasEnded_.wait(lock);
    else
      return;
  }
}

} // namespace mlir::coll
