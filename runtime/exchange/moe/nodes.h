// nodes.h - the part of a MoeBuffer between nodes: agrees on routes, and moves rows.
//
// A call of MoeBuffer across nodes consists of these steps, in the same order on all ranks:
//
//   route() or agree()   the counterparts check that they make the same call
//   prepare()            tables and places for rows, in this rank's GPU memory
//   sendAfter()          marks from when on rows may be sent
//   forward() or back()  sends rows to the counterparts, and receives theirs
//
// Between them the buffer launches, on stream(), the kernels that move rows within the node. The
// host drives the network: a step blocks until its data has arrived; then the stream waits for the
// last copy. Rows pass through pinned memory in chunks, so that copies and the network overlap.
//
// One thread at a time may call it, except for poll(), abort(), bytesSent(), checkRoom() and the
// functions of the low-latency mode. net_nodes.h implements it; without transports there is no
// implementation.

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
  std::optional<kernels::LowLatencyShape> lowLatency; // adds that mode
};

// What ranks have to agree on, besides the number of the call. Plain bytes.
struct MoeCallSign {
  enum Kind : uint32_t { kDispatch = 1, kDispatchAgain, kCombine, kLowLatencyClean };
  uint32_t kind = 0;
  uint32_t rowBytes = 0, numTopk = 0, numScales = 0, numExperts = 0;
  uint32_t unused = 0;
  int64_t capacity = 0;
};

// Parts of a rank's netBytes in a call, as addresses of the GPU.
struct MoeRelay {
  // Tables of the routes.
  int32_t *totals = nullptr; // [nodeSize][nodeSize]: a rank prefix for absolute rows
  int32_t *ownRows = nullptr, *places = nullptr, *sendTokens = nullptr;
  int32_t *relayRows = nullptr, *relaySource = nullptr;
  // [relayed] tokens of other ranks, or their sums.
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

  // kCollUnsupported, with the reason, if this build has no transports.
  static Status available();
  // `watch` returns whether to continue; it is called while a call waits.
  static Result<std::unique_ptr<MoeNodes>> create(std::shared_ptr<dl::GpuContext> gpu,
                                                  const MoeKernels &kernels,
                                                  const MoeNodesOptions &options, Watch watch);
  virtual ~MoeNodes() = default;

  virtual const net::Handle &handle() const = 0;
  virtual Status connect(const std::vector<net::Handle> &handles) = 0;
  // See RankLinks.
  virtual Status poll() = 0;
  virtual void abort(const Status &cause) = 0;
  virtual char *data() const = 0; // netBytes
  virtual int64_t bytesSent() const = 0;

  // The stream for calls; it has the highest priority, because other streams wait for it.
  virtual dl::CudaStream stream() const = 0;

  // Agrees on the routes of `layout`, whose arrays are complete when the present work of the stream
  // is. kCollInvalidCall: more tokens for a rank than sign.capacity. `isTokenInRank` receives the
  // layout's.
  virtual Result<std::shared_ptr<MoeRoutes>> route(const MoeCallSign &sign, const MoeLayout &layout,
                                                   int64_t numTokens,
                                                   std::vector<uint8_t> &isTokenInRank) = 0;
  virtual Status agree(const MoeCallSign &sign) = 0;

  // `record` is the data of each token; with `isCombine` sums return, too. kCollInvalidCall, the
  // same on all ranks, if the call needs more than netBytes, or a token more than a chunk.
  virtual Status checkRoom(const MoeRoutes &routes, const kernels::MoeRecord &record,
                           bool isCombine) const = 0;
  virtual Result<MoeRelay> prepare(const std::shared_ptr<const MoeRoutes> &routes,
                                   const kernels::MoeRecord &record, bool isCombine) = 0;
  // Copies from host memory, on the stream; `from` may be reused on return.
  virtual Status upload(void *to, const void *from, size_t bytes) = 0;

  // The data that forward() or back() sends is complete when the present work of the stream is.
  virtual Status sendAfter() = 0;
  // Sends this rank's tokens to the counterparts, and receives theirs into `relay`.
  virtual Status forward(const MoeRoutes &routes, const MoeRelay &relay, const MoeTokens &tokens,
                         const int64_t *topkIdx, const kernels::MoeRecord &record) = 0;
  // Sends the sums of relayed tokens back to their sources, and receives those of this rank's
  // tokens.
  virtual Status back(const MoeRoutes &routes, const MoeRelay &relay,
                      const kernels::MoeRecord &record) = 0;
  // Waits until all of these steps are done.
  virtual Status finish() = 0;
  // Like finish() without a deadline: after a failure, when kernels have been told to end.
  virtual void drain() = 0;

  // --- for the low-latency mode, if it was requested (low_latency_nodes.h)

  // Call it once connected. The mode's thread calls `fail` when no more messages will arrive.
  virtual Status startLowLatency(std::function<void()> fail) = 0;
  // The launch argument of calls of one of the two buffers.
  virtual kernels::LowLatencyFar lowLatencyFar(int64_t buffer) const = 0;
  // Whether there is room for messages of that shape.
  virtual bool fitsLowLatency(const kernels::LowLatencyShape &shape) const = 0;
  // Meets all ranks of other nodes when the present work of the stream, including calls of that
  // mode, is complete; afterwards messages have that shape.
  virtual Status cleanLowLatency(const kernels::LowLatencyShape &shape) = 0;
  // Why no more messages arrive.
  virtual Status lowLatencyFailure() const = 0;
  // Call it before the object's end: `watch` and `fail` are not called any more.
  virtual void stopLowLatency() = 0;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_NODES_H
