// moe_nodes.h - what a MoeBuffer does between nodes: it agrees on routes, and moves rows.
//
// A call of MoeBuffer that crosses nodes takes these steps, on all ranks alike:
//
//   route() or agree()   the counterparts find that they make the same call
//   prepare()            tables and places for rows, in this rank's GPU memory
//   sendAfter()          from when on rows may be sent
//   forward() or back()  rows to the counterparts, and theirs to here
//
// between which the buffer launches, on stream(), the kernels that move rows within the node. The
// host drives the network: these steps block until what they move is here; then the stream waits
// for the last copy. Rows pass through pinned memory in chunks, so that copies and the network
// overlap.
//
// One thread at a time, but for links(), bytesSent() and checkRoom().

#ifndef COLL_RUNTIME_EXCHANGE_MOE_NODES_H
#define COLL_RUNTIME_EXCHANGE_MOE_NODES_H

#include "runtime/exchange/chunk_network.h"
#include "runtime/exchange/moe_platform.h"
#include "runtime/exchange/moe_routes.h"

#include <functional>
#include <memory>

namespace coll::rt {

struct MoeNodesOptions {
  MoeWorld world;
  int64_t netBytes = 0;
  int64_t chunkBytes = 0;
  int64_t timeoutUs = 0;
  net::Transport *transport = nullptr; // outlives the object
};

// What ranks have to agree on, besides that they make their n-th call. Plain bytes.
struct MoeCallSign {
  enum Kind : uint32_t { kDispatch = 1, kDispatchAgain, kCombine };
  uint32_t kind = 0;
  uint32_t rowBytes = 0, numTopk = 0, numScales = 0, numExperts = 0;
  uint32_t unused = 0;
  int64_t capacity = 0;
};

// Parts of a rank's netBytes in a call; addresses of the GPU.
struct MoeRelay {
  // Tables of the routes.
  int32_t *totals = nullptr; // [nodeSize][nodeSize]: a rank prefix for rows that are absolute
  int32_t *ownRows = nullptr, *places = nullptr, *sendTokens = nullptr;
  int32_t *relayRows = nullptr, *relaySource = nullptr;
  // [relayed] tokens of others, or their sums.
  char *rows = nullptr;
  int64_t *topkIdx = nullptr;
  float *topkWeights = nullptr, *scales = nullptr;
  // [sent] sums that have come back.
  char *backRows = nullptr;
  float *backWeights = nullptr;
  uint64_t bytes = 0; // in all
};

class MoeNodes {
public:
  using Watch = std::function<Status()>;

  // `watch`: whether to go on, asked while a call waits.
  static Result<std::unique_ptr<MoeNodes>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                  const MoeKernels &kernels,
                                                  const MoeNodesOptions &options, Watch watch);
  ~MoeNodes();

  const net::Handle &handle() const { return network_->handle(); }
  Status connect(const std::vector<net::Handle> &handles) { return network_->connect(handles); }
  RankLinks &links() { return network_->links(); }
  ChunkPump &pump() { return network_->pump(); }
  char *data() const { return memory_.device(); } // netBytes
  int64_t bytesSent() const { return network_->pump().bytesSent(); }

  // Of what is done for calls; with the highest priority: others wait for it.
  dl::CudaStream stream() const { return stream_; }

  // Agrees on the routes of `layout`, whose arrays are complete when what is on the stream is.
  // kCollInvalidCall: more tokens for a rank than sign.capacity. `isTokenInRank` gets the layout's.
  Result<std::shared_ptr<MoeRoutes>> route(const MoeCallSign &sign, const MoeLayout &layout,
                                           int64_t numTokens, std::vector<uint8_t> &isTokenInRank);
  Status agree(const MoeCallSign &sign);

  // What travels with a token. `isCombine`: sums come back, too. kCollInvalidCall, on all ranks
  // alike: the call takes more than netBytes, or a token more than a chunk.
  Status checkRoom(const MoeRoutes &routes, const kernels::MoeRecord &record, bool isCombine) const;
  Result<MoeRelay> prepare(const std::shared_ptr<const MoeRoutes> &routes,
                           const kernels::MoeRecord &record, bool isCombine);
  // From host memory, on the stream; `from` is free when it returns.
  Status upload(void *to, const void *from, size_t bytes);

  // What forward() or back() sends is complete when what is now on the stream is.
  Status sendAfter() { return network_->order(stream_, network_->out()); }
  // This rank's tokens to the counterparts, theirs to `relay`.
  Status forward(const MoeRoutes &routes, const MoeRelay &relay, const MoeTokens &tokens,
                 const int64_t *topkIdx, const kernels::MoeRecord &record);
  // The sums of relayed tokens back to their sources, and of this rank's tokens to here.
  Status back(const MoeRoutes &routes, const MoeRelay &relay, const kernels::MoeRecord &record);
  // Until all this is done.
  Status finish();
  // Without a deadline: after a failure, when kernels have been told to end.
  void drain();

private:
  static constexpr int64_t kStageBytes = 1 << 20;
  enum Message : uint64_t { kSigns, kRoutes, kRows };

  MoeNodes(std::shared_ptr<dl::GpuContext> gpu, const MoeKernels &kernels,
           const MoeNodesOptions &options, Watch watch)
      : gpu_(std::move(gpu)), kernels_(kernels), options_(options), watch_(std::move(watch)) {}
  Status open();
  Status driver(dl::CudaResult result, const char *call) const { return gpu_->check(result, call); }
  Status download(void *to, const void *from, size_t bytes);
  Status await(dl::CudaEvent event);
  Status run(std::vector<RankFlow> flows) { return pump().run(std::move(flows), watch_); }

  // moe_nodes_agree.cc
  Status swapCounts(const MoeCallSign &sign, const MoeLayout &layout, int64_t numTokens,
                    std::vector<MoeCounts> &counts);
  Status swapRoutes(const std::vector<MoeCounts> &counts,
                    const std::vector<std::vector<MoeRoute>> &here,
                    std::vector<std::vector<MoeRoute>> &there);
  RankFlow bytesFlow(int rank, bool isSend, Message kind, void *data, size_t bytes) const;
  uint64_t tagOf(Message kind) const { return calls_ * 4 + kind; }
  Result<int64_t> tokensOfChunk(const kernels::MoeRecord &record) const;
  // Flows with all counterparts, `tokens` at a time; `begin` as in MoeRoutes.
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
  std::unique_ptr<ChunkNetwork> network_; // ends before the memory that it copies from and to
  bool isStageBusy_ = false;
  uint64_t calls_ = 0;
  std::shared_ptr<const MoeRoutes> uploaded_; // whose tables are in memory_
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_NODES_H
