// nccl_peer.h - the exchange as a framework without a MoeBuffer implements it: rows are packed by
// their ranks, travel by NCCL's sends and receives in one group (an all_to_all with the actual
// number for each rank), and returned rows are added up by token.
//
// The packing and the adding are kernels of coll that use the whole GPU. Tokens, experts and data
// are those of MoeCalls; rows for the rank itself go through NCCL, too.
//
// The low-latency mode does not count, so each message has the size of the worst case, all tokens;
// unused places have no experts. Therefore calls may be captured.

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
  // Called by all ranks together. kCollUnsupported if NCCL cannot connect them. Sends the worst
  // case if the task uses the low-latency mode.
  static Result<std::unique_ptr<NcclMoePeer>>
  create(const MoeTask &task, int rank, const rt::dl::Nccl &nccl, const NcclRanks::Swap &swap);
  // The same between processes; null, after rank 0 has printed why, if NCCL cannot connect them.
  static Result<std::unique_ptr<NcclMoePeer>> join(const MoeTask &task, Gathering &ranks);
  ~NcclMoePeer();

  // Later calls use the first `tokens` tokens of each rank.
  Status use(int tokens);
  const GpuRoom &room() const { return room_; }
  rt::dl::CudaStream stream() const { return stream_; }
  // The number of tokens that arrive at this rank in a dispatch.
  int64_t numReceived() const;
  // Dispatch, DispatchFp8 and Combine only enqueue; DispatchCounts waits for the counts, which a
  // framework needs for the sizes of its messages.
  Status call(MoeCall call);
  static bool has(MoeCall call) {
    return call != MoeCall::Layout && call != MoeCall::CombineCopied;
  }
  // Waits until all enqueued work is done, or the task's deadline.
  Status synchronize();
  // Returns the number of wrong values after one round.
  Result<int64_t> check();
  std::string name() const {
    return ranks_->name() + " send/recv, packed" + (isWorstCase_ ? ", worst case" : "");
  }

private:
  // Rows and the data sent with them in a message: one array after another, by rank.
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
  // This rank's tokens by rank, and where each rank's begin; the tokens that arrive, by source; and
  // how many they are.
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
