// team.h - the ranks of one side as processes that the driver forks.

#ifndef COLL_TOOLS_COLL_PERF_OP_TEAM_H
#define COLL_TOOLS_COLL_PERF_OP_TEAM_H

#include "tools/coll-perf/op/worker.h"
#include "tools/common/local_job.h"

#include <memory>
#include <optional>
#include <sys/types.h>
#include <vector>

namespace coll::perf {

// The result of one task on all ranks.
struct OpFigure {
  double minUs = 0, avgUs = 0, maxUs = 0; // over ranks, for one operation
  int slowest = 0;                        // the rank of maxUs
  int64_t wrong = -1;                     // elements on all ranks; -1: not checked
};

class Team {
public:
  // Forks, and waits until all ranks are ready. The driver must have no threads and must not have
  // used a GPU. kCollUnsupported if the backend cannot run here.
  static Result<std::unique_ptr<Team>> start(const OpPlan &plan, const Side &side);
  // Ends its processes.
  ~Team();

  const Side &side() const { return side_; }
  Result<OpFigure> measure(const Task &task);

private:
  struct Worker {
    pid_t pid = 0; // 0: it has been waited for
    std::unique_ptr<LineSocket> socket;
    std::string name;    // "rank 2", "the process of all ranks"
    std::string at;      // what it last reported
    int64_t heardUs = 0; // when it last spoke
  };

  Team(const OpPlan &plan, const Side &side) : plan_(plan), side_(side) {}
  // Without a job the new process runs all ranks.
  Status fork(int rank, const std::optional<LocalJob> &job);
  // Returns the answer of each worker. kCollTimeout for a worker that is silent for this long, or
  // for some seconds after another has failed: the backend has its own deadlines, but the GPU's
  // driver may hang.
  std::vector<Result<std::string>> answers(int64_t silenceUs);
  // Waits a short time for the next line. Returns nullopt if it is not the answer yet and endUs has
  // not passed.
  std::optional<Result<std::string>> hear(Worker &worker, int64_t silenceUs, int64_t endUs);
  // Waits for a process that has ended and describes how it ended.
  static std::string endOf(Worker &worker);

  const OpPlan plan_;
  const Side side_;
  std::vector<Worker> workers_;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_TEAM_H
