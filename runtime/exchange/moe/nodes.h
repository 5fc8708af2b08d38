// nodes.h - what a MoeBuffer does between nodes: it agrees on routes, and moves rows.
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
// One thread at a time, but for poll(), abort(), bytesSent(), checkRoom() and what is of the
// low-latency mode. What does it is in net_nodes.h, and where there are no transports nothing.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_NODES_H
#define COLL_RUNTIME_EXCHANGE_MOE_NODES_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/exchange/moe/platform.h"
#include "runtime/exchange/moe/routes.h"
#include "runtime/net/transport.h"

#include <functional>
#include <memory>
#include <optional>

namespace coll::rt {

struct MoeNodesOptions {
  MoeWorld world;
  int64_t netBytes = 0;
  int64_t chunkBytes = 0;
  int64_t timeoutUs = 0;
  net::Transport *transport = nullptr;                // outlives the object
  std::optional<kernels::LowLatencyShape> lowLatency; // has that mode, too
};

// What ranks have to agree on, besides that they make their n-th call. Plain bytes.
struct MoeCallSign {
  enum Kind : uint32_t { kDispatch = 1, kDispatchAgain, kCombine, kLowLatencyClean };
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

  // kCollUnsupported, with the reason, where this build has no transports.
  static Status available();
  // `watch`: whether to go on, asked while a call waits.
  static Result<std::unique_ptr<MoeNodes>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                  const MoeKernels &kernels,
                                                  const MoeNodesOptions &options, Watch watch);
  virtual ~MoeNodes() = default;

  virtual const net::Handle &handle() const = 0;
  virtual Status connect(const std::vector<net::Handle> &handles) = 0;
  // As those of RankLinks.
  virtual Status poll() = 0;
  virtual void abort(const Status &cause) = 0;
  virtual char *data() const = 0; // netBytes
  virtual int64_t bytesSent() const = 0;

  // Of what is done for calls; with the highest priority: others wait for it.
  virtual dl::CudaStream stream() const = 0;

  // Agrees on the routes of `layout`, whose arrays are complete when what is on the stream is.
  // kCollInvalidCall: more tokens for a rank than sign.capacity. `isTokenInRank` gets the layout's.
  virtual Result<std::shared_ptr<MoeRoutes>> route(const MoeCallSign &sign, const MoeLayout &layout,
                                                   int64_t numTokens,
                                                   std::vector<uint8_t> &isTokenInRank) = 0;
  virtual Status agree(const MoeCallSign &sign) = 0;

  // What travels with a token. `isCombine`: sums come back, too. kCollInvalidCall, on all ranks
  // alike: the call takes more than netBytes, or a token more than a chunk.
  virtual Status checkRoom(const MoeRoutes &routes, const kernels::MoeRecord &record,
                           bool isCombine) const = 0;
  virtual Result<MoeRelay> prepare(const std::shared_ptr<const MoeRoutes> &routes,
                                   const kernels::MoeRecord &record, bool isCombine) = 0;
  // From host memory, on the stream; `from` is free when it returns.
  virtual Status upload(void *to, const void *from, size_t bytes) = 0;

  // What forward() or back() sends is complete when what is now on the stream is.
  virtual Status sendAfter() = 0;
  // This rank's tokens to the counterparts, theirs to `relay`.
  virtual Status forward(const MoeRoutes &routes, const MoeRelay &relay, const MoeTokens &tokens,
                         const int64_t *topkIdx, const kernels::MoeRecord &record) = 0;
  // The sums of relayed tokens back to their sources, and of this rank's tokens to here.
  virtual Status back(const MoeRoutes &routes, const MoeRelay &relay,
                      const kernels::MoeRecord &record) = 0;
  // Until all this is done.
  virtual Status finish() = 0;
  // Without a deadline: after a failure, when kernels have been told to end.
  virtual void drain() = 0;

  // --- of the low-latency mode, where it was asked for (low_latency_nodes.h)

  // Once connected. `fail`: told by the thread of it when no more messages will come.
  virtual void startLowLatency(std::function<void()> fail) = 0;
  // What calls of one of the two buffers are launched with.
  virtual kernels::LowLatencyFar lowLatencyFar(int64_t buffer) const = 0;
  // Whether that shape's messages have room.
  virtual bool fitsLowLatency(const kernels::LowLatencyShape &shape) const = 0;
  // When what is on the stream is complete, calls of that mode among it: meets all ranks of other
  // nodes, and messages are of that shape then.
  virtual Status cleanLowLatency(const kernels::LowLatencyShape &shape) = 0;
  // Why no more messages come.
  virtual Status lowLatencyFailure() const = 0;
  // Before the object's end: `watch` and `fail` are called no more.
  virtual void stopLowLatency() = 0;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_NODES_H
