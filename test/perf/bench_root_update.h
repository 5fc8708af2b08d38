// bench_root_update.h - declarations that the parts of bench-root-update share.

#ifndef COLL_TEST_PERF_BENCH_ROOT_UPDATE_H
#define COLL_TEST_PERF_BENCH_ROOT_UPDATE_H

#include "runtime/kernels/root_update/root_update.h"
#include "test/kernels/must.h"

#include <cuda_runtime.h>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace coll::bench {

using kernels::Adam;
using kernels::kMaxPeers;
using kernels::PeerGroup;
using kernels::RootUpdate;
using kernels::UpdateStep;
using kernels::test::must;

// One rank: a GPU's stream, and buffers for `count` parameters.
struct Member {
  int device = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  char *gradients = nullptr, *parameters = nullptr, *sum = nullptr;
  float *master = nullptr, *slots[2] = {};
  UpdateStep *step = nullptr;
  unsigned long long *different = nullptr;
};

// All ranks; rank r is on GPU r modulo the number of GPUs.
class Team {
public:
  // `sizes` are those of its groups' workspaces.
  Team(int ranks, int devices, const kernels::WorkspaceSizes &sizes);
  int size() const { return static_cast<int>(members_.size()); }
  bool sharesGpus() const { return size() > devices_; }
  Member &operator[](int rank) { return members_[static_cast<size_t>(rank)]; }
  void use(int rank) { must(cudaSetDevice((*this)[rank].device), "cudaSetDevice"); }
  void each(const std::function<void(int rank)> &work);
  void wait();

  void allocate(uint64_t count, size_t elemBytes);
  void free();

  // `step` enqueues one step on every rank; `repeats` of them are one graph. Returns the
  // microseconds of one step on the slowest rank: the median of several runs that begin together.
  double microseconds(int repeats, const std::function<void()> &step);

  // Both for groups of this team.
  std::vector<PeerGroup> makeGroup(uint64_t timeoutNs);
  void freeGroup(std::vector<PeerGroup> &group);
  // A call without elements, which makes the ranks begin together.
  void meet();

private:
  int devices_;
  kernels::WorkspaceSizes sizes_;
  std::vector<Member> members_;
  std::vector<PeerGroup> meeting_;
};

// Step 1 of Adam on data that depends only on index and rank.
inline constexpr UpdateStep kFirstStep = {1e-3f, 1.0f, 1};

// Writes the gradients of `rank`, and all ranks' parameters and state as before the first step.
void fill(Team &team, int rank, uint64_t count, bool narrow);
// Returns how many of the rank's parameters differ from those of the first step by more than
// `tolerance` of the step; 0: any difference counts.
unsigned long long different(Team &team, int rank, uint64_t count, bool narrow, float tolerance);
// The optimizer alone on `count` parameters from `first` on, with sums of gradients on the same
// GPU: this only needs memory bandwidth.
void launchAdam(Team &team, int rank, const char *sums, uint64_t first, uint64_t count,
                bool narrow);

// The peers: an unfused step. Each function enqueues one step on every rank.
class NcclPeer {
public:
  virtual ~NcclPeer() = default;
  // Makes all_reduce of the gradients, then the optimizer on all parameters.
  virtual void allReduceStep(uint64_t count, bool narrow) = 0;
  // Makes reduce_scatter, the optimizer on a part, and all_gather.
  virtual void shardedStep(uint64_t count, bool narrow) = 0;
  virtual std::string name() const = 0;
};
// Returns null, with the reason, if there is no NCCL or ranks share GPUs.
std::unique_ptr<NcclPeer> makeNcclPeer(Team &team, std::string &whyNot);

} // namespace coll::bench

#endif // COLL_TEST_PERF_BENCH_ROOT_UPDATE_H
