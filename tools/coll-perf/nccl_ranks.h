// nccl_ranks.h - ranks that are processes with a GPU each, connected by NCCL for comparison.

#ifndef COLL_TOOLS_COLL_PERF_NCCL_RANKS_H
#define COLL_TOOLS_COLL_PERF_NCCL_RANKS_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/dl/nccl.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace coll::perf {

using rt::Result;
using rt::Status;

class NcclRanks {
public:
  struct Options {
    int rank = 0, ranks = 1;
    int node = 0, nodes = 1; // that the ranks are divided into
  };
  struct Message {
    bool sends;
    int peer;
    char *data;
    size_t bytes;
  };
  // All-gathers the bytes of all ranks; all ranks call it together.
  using Swap = std::function<Result<std::vector<std::string>>(const std::string &mine)>;

  // Called by all ranks together. kCollUnsupported: fewer GPUs than ranks, or rank 0 has no id.
  static Result<std::unique_ptr<NcclRanks>> create(const rt::dl::Nccl &nccl,
                                                   std::shared_ptr<rt::dl::GpuContext> gpu,
                                                   const Options &options, const Swap &swap);
  ~NcclRanks(); // ends operations in flight
  NcclRanks(const NcclRanks &) = delete;
  NcclRanks &operator=(const NcclRanks &) = delete;

  // Enqueues the messages on the stream, in one group. If two ranks exchange several messages, they
  // match in order.
  Status exchange(const std::vector<Message> &messages, rt::dl::CudaStream stream);
  // "NCCL 2.28.9"
  std::string name() const;

private:
  NcclRanks(const rt::dl::Nccl &nccl, std::shared_ptr<rt::dl::GpuContext> gpu)
      : nccl_(nccl), gpu_(std::move(gpu)) {}
  Status connect(const Options &options, const Swap &swap);
  Status check(rt::dl::NcclResult result, const char *call) const {
    return rt::dl::ncclStatus(nccl_, result, call, comm_);
  }

  const rt::dl::Nccl &nccl_;
  const std::shared_ptr<rt::dl::GpuContext> gpu_;
  rt::dl::NcclComm comm_ = nullptr;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_NCCL_RANKS_H
