// collect.h - assembles global tensors from the blocks of all ranks, including those of other
// processes.

#ifndef COLL_RUNTIME_STEP_COLLECT_H
#define COLL_RUNTIME_STEP_COLLECT_H

#include "runtime/program/host_tensor.h"
#include "runtime/step/rank_state.h"

#include <functional>
#include <memory>
#include <vector>

namespace coll::rt {

// Assembles tensors in the process that has rank 0; the other processes send their parts. Every
// process makes the same calls. Belongs to the executor's caller.
class Collector {
public:
  // `ranks` are those of this process, ascending; they must outlive the collector.
  static Result<std::unique_ptr<Collector>>
  create(int numRanks, const std::vector<std::unique_ptr<RankState>> &ranks);

  // Whether this process receives the tensors.
  bool isRoot() const { return ranks_.front()->context().rank == 0; }

  struct Item {
    const TensorInfo *info;
    // A local rank's block.
    std::function<const char *(const RankState &)> block;
    // Whether a rank of the job has a block.
    std::function<bool(int)> isHeldBy;
  };
  // The items' tensors, each block from the first rank that has it. Empty unless isRoot().
  Result<std::vector<HostTensor>> collect(const std::vector<Item> &items);

  // See Executor::gather.
  Result<std::vector<std::string>> gather(const std::string &text);
  // See Executor::broadcast.
  Result<std::string> broadcast(const std::string &text);

private:
  explicit Collector(const std::vector<std::unique_ptr<RankState>> &ranks) : ranks_(ranks) {}
  const RankState *findLocal(int rank) const;
  bool needsOthers(const std::vector<Item> &items) const;
  std::vector<int> sourcesOf(const Item &item) const;
  Status addBlock(const Item &item, int rank, HostTensor *global);
  // Runs `exchange` as a stretch of the program; its failure aborts the job.
  template <typename Exchange>
  Status talk(Exchange exchange);
  Status sendText(int rank, const std::string &text);
  Status receiveText(int rank, std::string &text);

  const std::vector<std::unique_ptr<RankState>> &ranks_;
  int numRanks_ = 0;
  std::unique_ptr<Communicator> all_; // null if all ranks are in this process
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_COLLECT_H
