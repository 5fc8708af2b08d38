//===- stopping.h - a run that its user ends early ----------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_STOPPING_H
#define COLL_TOOLS_COLL_RUN_STOPPING_H

#include "runtime/step/executor.h"

#include "llvm/Support/Error.h"

#include <chrono>

namespace coll::run {

/// While it lives, SIGINT and SIGTERM do not end this process, but the run after a step: the
/// same on all ranks. Once the run was ended so, later signals have no effect in this process,
/// which has only to write what it has: they may be the same request, passed on by a launcher.
/// Ending the process when the user asks again is left to the one that watches it. One at a time.
class Stopping {
public:
  /// `steps`: of the run. Where `isTalking`, the first signal is answered on the standard error
  /// stream. The executor must outlive it.
  Stopping(rt::Executor &executor, int64_t steps, bool isTalking);
  ~Stopping();
  Stopping(const Stopping &) = delete;
  Stopping &operator=(const Stopping &) = delete;

  /// Called after each step, by every process of the job. The signal, of any of them, after
  /// which this is the last step; 0: it is not. Mostly without asking the others: they are asked
  /// some ten times a second, and after the last step.
  llvm::Expected<int> agreeAfter(int64_t step);

  /// After the last step. The signal that ended the run or came since the ranks were last asked;
  /// 0: none did, and from here on a signal ends the process.
  int finish();

private:
  using Clock = std::chrono::steady_clock;

  int64_t chooseNext(int64_t step) const;
  void restore();

  rt::Executor &executor_;
  const int64_t steps_;
  int64_t last_ = 0, next_ = 1; // steps after which all are asked
  Clock::time_point asked_ = Clock::now();
  int signal_ = 0;                      // that ended the run
  void (*before_[2])(int);
};

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_STOPPING_H
