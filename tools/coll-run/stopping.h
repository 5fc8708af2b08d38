//===- stopping.h - a run that its user ends early ----------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_STOPPING_H
#define COLL_TOOLS_COLL_RUN_STOPPING_H

#include "runtime/step/executor.h"

#include "llvm/Support/Error.h"

#include <chrono>

namespace coll::run {

/// While it lives, SIGINT and SIGTERM do not end this process, but the run after a step: the same
/// on all ranks. Once the run was ended so, later signals have no effect in this process, which has
/// only to write what it has: they may be the same request, passed on by a launcher. If the user
/// asks again, the process that watches this one ends it. One at a time.
class Stopping {
public:
  /// `steps`: of the run. Where `isTalking`, the first signal is answered on the standard error
  /// stream. The executor must outlive it.
  Stopping(rt::Executor &executor, int64_t steps, bool isTalking);
  ~Stopping();
  Stopping(const Stopping &) = delete;
  Stopping &operator=(const Stopping &) = delete;

  /// Called after each step, by every process of the job. Returns the signal that any of them has
  /// received, if this step is the last one because of it, else 0. The processes exchange signals
  /// only some ten times a second, and after the last step.
  llvm::Expected<int> agreeAfter(int64_t step);

  /// Called after the last step. Returns the signal that ended the run or came since the last
  /// exchange. 0: there was none, and from here on a signal ends the process.
  int finish();

private:
  using Clock = std::chrono::steady_clock;

  int64_t chooseNext(int64_t step) const;
  void restore();

  rt::Executor &executor_;
  const int64_t steps_;
  int64_t last_ = 0, next_ = 1; // steps after which all are asked
  Clock::time_point asked_ = Clock::now();
  int signal_ = 0; // that ended the run
  void (*before_[2])(int);
};

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_STOPPING_H
