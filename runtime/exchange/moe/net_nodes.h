// net_nodes.h - MoeNodes over a transport. Internal to runtime/exchange.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_NET_NODES_H
#define COLL_RUNTIME_EXCHANGE_MOE_NET_NODES_H

#include "runtime/exchange/flow/chunk_network.h"
#include "runtime/exchange/moe/low_latency_nodes.h"
#include "runtime/exchange/moe/nodes.h"

namespace coll::rt {

class MoeNetNodes : public MoeNodes {
public:
  MoeNetNodes(std::shared_ptr<dl::GpuContext> gpu, const MoeKernels &kernels,
              const MoeNodesOptions &options, Watch watch)
      : gpu_(std::move(gpu)), kernels_(kernels), options_(options), watch_(std::move(watch)) {}
  Status open(); // called once, first
  ~MoeNetNodes() override;

  const net::Handle &handle() const override { return network_->handle(); }
  Status connect(const std::vector<net::Handle> &handles) override {
    return network_->connect(handles);
  }
  Status poll() override { return network_->links().poll(); }
  void abort(const Status &cause) override { network_->links().abort(cause); }
  char *data() const override { return memory_.device(); }
  int64_t bytesSent() const override { return network_->pump().bytesSent(); }
  dl::CudaStream stream() const override { return stream_; }

  Result<std::shared_ptr<MoeRoutes>> route(const MoeCallSign &sign, const MoeLayout &layout,
                                           int64_t numTokens,
                                           std::vector<uint8_t> &isTokenInRank) override;
  Status agree(const MoeCallSign &sign) override;
  Status checkRoom(const MoeRoutes &routes, const kernels::MoeRecord &record,
                   bool isCombine) const override;
  Result<MoeRelay> prepare(const std::shared_ptr<const MoeRoutes> &routes,
                           const kernels::MoeRecord &record, bool isCombine) override;
  Status upload(void *to, const void *from, size_t bytes) override;
  Status sendAfter() override { return network_->order(stream_, network_->out()); }
  Status forward(const MoeRoutes &routes, const MoeRelay &relay, const MoeTokens &tokens,
                 const int64_t *topkIdx, const kernels::MoeRecord &record) override;
  Status back(const MoeRoutes &routes, const MoeRelay &relay,
              const kernels::MoeRecord &record) override;
  Status finish() override;
  void drain() override;

  Status startLowLatency(std::function<void()> fail) override {
    return far_->start(network_->pump(), watch_, std::move(fail));
  }
  kernels::LowLatencyFar lowLatencyFar(int64_t buffer) const override { return far_->of(buffer); }
  bool fitsLowLatency(const kernels::LowLatencyShape &shape) const override {
    return far_->fits(shape);
  }
  Status cleanLowLatency(const kernels::LowLatencyShape &shape) override;
  Status lowLatencyFailure() const override { return far_->failure(); }
  void stopLowLatency() override { far_->stop(); }

private:
  static constexpr int64_t kStageBytes = 1 << 20;
  enum Message : uint64_t { kSigns, kRoutes, kRows };

  Status driver(dl::CudaResult result, const char *call) const { return gpu_->check(result, call); }
  Status download(void *to, const void *from, size_t bytes);
  Status await(dl::CudaEvent event);
  Status run(std::vector<RankFlow> flows) { return network_->pump().run(std::move(flows), watch_); }

  // net_nodes_agree.cc
  Status agreeWith(const std::vector<int> &ranks, const MoeCallSign &sign);
  Status swapCounts(const MoeCallSign &sign, const MoeLayout &layout, int64_t numTokens,
                    std::vector<MoeCounts> &counts);
  Status swapRoutes(const std::vector<MoeCounts> &counts,
                    const std::vector<std::vector<MoeRoute>> &here,
                    std::vector<std::vector<MoeRoute>> &there);
  RankFlow bytesFlow(int rank, bool isSend, Message kind, void *data, size_t bytes) const;
  uint64_t tagOf(Message kind) const { return calls_ * 4 + kind; }
  Result<int64_t> tokensOfChunk(const kernels::MoeRecord &record) const;
  // Runs flows with all counterparts, of `tokens` tokens in each chunk; `begin` as in MoeRoutes.
  using Move = std::function<Status(int64_t first, int64_t count, const ChunkSlot &slot)>;
  void addFlows(std::vector<RankFlow> &flows, bool isSend, const std::vector<int64_t> &begin,
                const kernels::MoeRecord &record, int64_t tokens, const Move &move) const;

  std::shared_ptr<dl::GpuContext> gpu_;
  const MoeKernels kernels_;
  const MoeNodesOptions options_;
  const Watch watch_;
  dl::GpuMemory memory_, stage_;
  dl::CudaStream stream_ = nullptr;
  dl::CudaEvent staged_ = nullptr;
  std::unique_ptr<MoeLowLatencyNodes> far_;
  std::unique_ptr<ChunkNetwork> network_; // destroyed before the memory that it copies
  bool isStageBusy_ = false;
  uint64_t calls_ = 0;
  std::shared_ptr<const MoeRoutes> uploaded_; // the routes whose tables are in memory_
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_NET_NODES_H
