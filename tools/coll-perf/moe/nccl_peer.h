// nccl_peer.h - the exchange as a framework without a MoeBuffer has it: rows are packed by their
// ranks, go by NCCL's sends and receives in one group (an all_to_all with as many for each rank as
// there are), and what comes back is added up by token.
//
// The packing and the adding are kernels of ours over the whole GPU. Tokens, experts and what is
// moved are those of MoeCalls; rows for the own rank go by NCCL, too.
//
// For the low-latency mode, where nobody counts, as many rows go to and come from each rank as
// there may be: all tokens. Places that are left over have no experts. So calls may be captured.

#ifndef COLL_TOOLS_COLL_PERF_MOE_NCCL_PEER_H
#define COLL_TOOLS_COLL_PERF_MOE_NCCL_PEER_H

#include "runtime/exchange/moe/platform.h"
#include "tools/coll-perf/gathering.h"
#include "tools/coll-perf/moe/gpu_room.h"
#include "tools/coll-perf/moe/task.h"
#include "tools/coll-perf/nccl_ranks.h"

#include <memory>
#include <vector>

namespace coll::perf {

class NcclMoePeer {
public:
  // All ranks together. kCollUnsupported where NCCL cannot join them. As many rows as there may be
  // where the task is one of the low-latency mode.
  static Result<std::unique_ptr<NcclMoePeer>>
  create(const MoeTask &task, int rank, const rt::dl::Nccl &nccl, const NcclRanks::Swap &swap);
  // The same between processes; null where NCCL cannot join them, which rank 0 says.
  static Result<std::unique_ptr<NcclMoePeer>> join(const MoeTask &task, Gathering &ranks);
  ~NcclMoePeer();

  // From here on of the first `tokens` tokens of each rank.
  Status use(int tokens);
  const GpuRoom &room() const { return room_; }
  rt::dl::CudaStream stream() const { return stream_; }
  // Tokens that come to this rank in a dispatch.
  int64_t numReceived() const;
  // Dispatch, DispatchFp8 and Combine enqueue; DispatchCounts waits for the counts, by which a
  // framework sizes its messages.
  Status call(MoeCall call);
  static bool has(MoeCall call) {
    return call != MoeCall::Layout && call != MoeCall::CombineCopied;
  }
  // Until all that was enqueued is done, or the task's deadline.
  Status synchronize();
  // Values that are wrong after one round.
  Result<int64_t> check();
  std::string name() const {
    return ranks_->name() + " send/recv, packed" + (isWorstCase_ ? ", worst case" : "");
  }

private:
  // Rows and what goes with them, on their way: an array after another, by rank.
  struct Cargo {
    kernels::MoeRecord record;
    kernels::MoeRun out, in;
    std::vector<NcclRanks::Message> there, back; // in a dispatch, in a combine
  };

  NcclMoePeer(const MoeTask &task, int rank)
      : task_(task), rank_(rank), isWorstCase_(!task.lowLatencyTokens.empty()) {}
  Status open(const rt::dl::Nccl &nccl, const NcclRanks::Swap &swap);
  Status fill();
  void route();
  Cargo cargoOf(const kernels::MoeRecord &record) const;
  Status pack(const Cargo &cargo, const void *x);
  Status swapCounts();
  Status unpermute();
  Result<int64_t> checkDispatched(const Cargo &cargo);
  Result<int64_t> checkCombined();
  int64_t placesIn() const { return recvBegin_.back(); }

  MoeTask task_;
  const int rank_;
  const bool isWorstCase_;
  GpuRoom room_;
  rt::MoePlatform platform_;
  rt::dl::CudaStream stream_ = nullptr;
  rt::dl::CudaEvent event_ = nullptr;
  uint32_t blocks_ = 0;
  // This rank's tokens by rank, and where a rank's begin; what comes, by source. How many these
  // are.
  std::vector<int32_t> tokens_, places_, going_, coming_;
  std::vector<int64_t> sendBegin_, recvBegin_;
  std::vector<int64_t> topk_;
  Cargo bf16_, fp8_, full_; // full_: with indices and weights
  const int32_t *tokensOnGpu_ = nullptr, *placesOnGpu_ = nullptr;
  const void *x_ = nullptr, *xFp8_ = nullptr;
  const float *scales_ = nullptr, *weights_ = nullptr;
  const int64_t *topkOnGpu_ = nullptr;
  char *out_ = nullptr, *in_ = nullptr; // cargo
  char *counts_ = nullptr;              // of this rank, by rank; then of the others
  rt::dl::GpuMemory countsOnHost_;
  char *sums_ = nullptr;
  float *sumsOfWeights_ = nullptr;
  std::unique_ptr<NcclRanks> ranks_; // ends before the memory that it moves
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_NCCL_PEER_H
