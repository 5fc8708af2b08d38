//===- thread_pool.h - threads that the system may refuse ---------------*- C++ -*-===//

#ifndef COLL_PASSES_THREAD_POOL_H
#define COLL_PASSES_THREAD_POOL_H

#include "llvm/Support/ThreadPool.h"

#include <pthread.h>

namespace mlir::coll {

/// A pool for MLIR's contexts and for code generation. LLVM's own pool ends the process where the
/// system refuses a thread, as under `prlimit --nproc`. This one works with the threads that it
/// has. Threads that wait for tasks run them, so that it works even without any thread of its own.
class ThreadPool final : public llvm::ThreadPoolInterface {
public:
  /// `count`: the most threads; 0: one for each processor.
  explicit ThreadPool(unsigned count = 0);
  ~ThreadPool() override;

  /// Both run tasks that have not begun, and block until the others have ended.
  void wait() override { waitFor(nullptr); }
  void wait(llvm::ThreadPoolTaskGroup &group) override { waitFor(&group); }
  unsigned getMaxConcurrency() const override { return maxThreads_; }

private:
  struct Task {
    llvm::unique_function<void()> body;
    llvm::ThreadPoolTaskGroup *group;
  };

  static void *runThread(void *pool);
  void asyncEnqueue(llvm::unique_function<void()> body, llvm::ThreadPoolTaskGroup *group) override;
  void growLocked();
  void runLocked(std::deque<Task>::iterator task, std::unique_lock<std::mutex> &lock);
  /// `group` null: waits for all of them.
  void waitFor(llvm::ThreadPoolTaskGroup *group);

  const unsigned maxThreads_;
  std::mutex mutex_;
  std::condition_variable hasTask_, hasEnded_;
  std::deque<Task> queue_;
  llvm::DenseMap<llvm::ThreadPoolTaskGroup *, unsigned> running_; // tasks, by group
  std::vector<pthread_t> threads_;
  unsigned numRunning_ = 0, numIdle_ = 0;
  bool isRefused_ = false, isEnding_ = false;
};

} // namespace mlir::coll

#endif // COLL_PASSES_THREAD_POOL_H
