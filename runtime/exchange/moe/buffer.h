// buffer.h - the token exchange of moe.h between GPUs: up to eight ranks of one node, or several
// nodes of up to as many ranks each.
//
//   auto buffer = MoeBuffer::create(options).take();  // on each rank
//   … exchange buffer->card() with all ranks, by any means …
//   buffer->sync(cards);
//   buffer->dispatchLayout(routing, layout, order);
//   auto received = buffer->dispatch(tokens, routing, layout, options, memory, order);
//   … experts compute on received->x, and write to buffer->combineInput() …
//   buffer->combine(combine, received->handle, config, order);
//   … all ranks meet …
//   buffer->destroy();
//
// **Memory.** A rank has nvlBytes of GPU memory besides its workspace, in two halves: dispatch puts
// received tokens into the first half, where `MoeReceived` points to until the next dispatch;
// combine's peers read from the second half, or, in place, from the first. Rows that are elsewhere
// are copied into the second half first. **Order.** Calls run on the communication stream; MoeOrder
// says what they wait for, and what waits for them. All ranks make the same calls in the same
// order. **Waiting.** Only a dispatch without a worst case blocks: until the counts are known, or
// for 1.25 times `timeoutUs`, after which the buffer fails. No call allocates GPU memory. **Several
// nodes.** The same calls work: with peer memory inside a node, and over a transport between nodes,
// which a token crosses once for each other node that wants it (routes.h). The host drives the
// network: a thread of the buffer executes dispatch and combine, one after the other, and the
// communication stream waits for each (call_queue.h says what that requires of a program). Sums of
// a node are rounded to bf16 before they cross. `netBytes` of GPU memory hold tokens of other nodes
// while they are relayed, sums on their way back, and tables. sync() blocks, and destroy() until
// the calls have ended. **Failure.** If something fails on the GPUs or the network after a call has
// returned (a rank is missing, or makes another call; too many tokens for a worst case), check()
// and the next call report it. The buffer has then failed on all ranks: destroy it. Between nodes
// the buffer also fails if the driver fails a call on one rank, and the others receive the reason.
// Wrong indices count as -1, and only check() reports them, because peers wait for the calls.
//
// An object belongs to one thread at a time.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_BUFFER_H
#define COLL_RUNTIME_EXCHANGE_MOE_BUFFER_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/exchange/moe/call_queue.h"
#include "runtime/exchange/moe/low_latency.h"
#include "runtime/exchange/moe/memory.h"
#include "runtime/exchange/moe/nodes.h"
#include "runtime/exchange/moe/platform.h"

#include <memory>
#include <mutex>
#include <variant>
#include <vector>

namespace coll::rt {

struct MoeBufferOptions {
  int rank = 0;
  int numRanks = 1;     // up to kMoeMaxRanks
  int64_t nvlBytes = 0; // a multiple of 128, up to INT_MAX unless netBytes is 0
  // A multiple of 128. On several nodes up to INT_MAX unless lowLatency; on one node 0, or with
  // lowLatency at least lowLatencyBytes(), which is then the size of that mode's memory.
  int64_t netBytes = 0;
  // Adds that mode; without nvlBytes it is the only mode. With nvlBytes, the number of ranks on
  // several nodes is a multiple of nodeSize, as without the mode.
  bool lowLatency = false;
  MoeLowLatencyShape lowLatencyShape;   // of all its calls, until lowLatencyClean()
  bool explicitlyDestroy = false;       // false: the destructor destroys the buffer
  int device = 0;                       // GPU
  int64_t timeoutUs = 30 * 1000 * 1000; // of each wait, on the GPU and on the host
  int nodeSize = kMoeNodeRanks;         // ranks of a node, if there are several nodes
  // The communication stream, which outlives the buffer; null: the buffer makes its own.
  dl::CudaStream stream = nullptr;
  // For several nodes: the transport between them, which outlives the buffer, and the bytes of one
  // message.
  net::Transport *transport = nullptr;
  int64_t netChunkBytes = 1 << 20; // a multiple of 256
};

// The work that a call waits for, and the work that waits for the call.
struct MoeOrder {
  dl::CudaStream compute = nullptr; // the caller's; may be commStream()
  dl::CudaEvent previous = nullptr; // the call begins after it; null: after what is on `compute`
  dl::CudaEvent done = nullptr;     // recorded at the end; null: `compute` waits for the call
};

// A call of the low-latency mode that was sent and not yet received.
struct MoeHook {
  int64_t call = -1;
};

// A part of the buffer.
struct MoeView {
  void *data = nullptr;
  CollDtype dtype = kCollBf16;
  int64_t numElems = 0;
};

class MoeBuffer {
public:
  static Result<std::unique_ptr<MoeBuffer>> create(const MoeBufferOptions &options);
  // Destroys a buffer that was not destroyed; logs an error if explicitlyDestroy was set.
  ~MoeBuffer();
  MoeBuffer(const MoeBuffer &) = delete;
  MoeBuffer &operator=(const MoeBuffer &) = delete;

  // Data for the other ranks. The workspace is ready when the object exists.
  const MoeCard &card() const { return card_; }
  // cards[r] is rank r's. Call it once; afterwards the buffer can be used. kCollMismatch on all
  // ranks, with both ranks and both values, if a rank has other options.
  Status sync(const std::vector<MoeCard> &cards);
  // Call it once, when all ranks have seen the end of their last calls. Afterwards calls fail,
  // card() is empty, and commStream() and combineInput() are null.
  Status destroy();

  bool isDestroyed() const { return isDestroyed_; }
  bool isAvailable() const { return isAvailable_; }
  bool isInternodeAvailable() const { return isAvailable_ && nodes_; }
  int numNetRanks() const { return world().numNodes(); }
  int netRank() const { return world().node(); }
  int nvlRank() const { return world().place(); }
  int rootNetRank(bool global) const { return global ? nvlRank() : 0; }
  int localDeviceId() const { return options_.device; }
  const dl::CudaIpcHandle &localIpcHandle() const { return card_.memory.ipc; }
  const net::Handle &localNetId() const { return card_.net; }
  dl::CudaStream commStream() const { return stream_; }
  // The bytes that this rank has sent to other nodes so far.
  int64_t netBytesSent() const { return nodes_ ? nodes_->bytesSent() : 0; }
  // A view of this rank's nvlBytes, or netBytes, from byte `offset` on. netBytes hold tokens of
  // other nodes on their way or, on one node, are the memory of the low-latency mode.
  Result<MoeView> localBuffer(CollDtype dtype, int64_t offset, bool useNet) const;

  // Ok, or the failure that the GPUs have reported: kCollTimeout, kCollPeer, kCollMismatch,
  // kCollAborted, or kCollInvalidCall for indices and numbers of tokens. Indices are reported once.
  Status check();
  // Ends everything that waits on the GPUs, here and on the peers. Any thread may call it.
  void abort();

  // `layout`: GPU memory of the caller.
  Status dispatchLayout(const MoeRouting &routing, const MoeLayout &layout, const MoeOrder &order);

  // GPU memory for a dispatch's handle; the caller keeps it as long as the handle.
  static int64_t handleBytes(int64_t numTokens, int numRanks, const MoeConfig &config);
  // The number of such tokens for which a dispatch has room.
  int64_t maxReceived(const MoeTokens &tokens, int numTopk) const;
  // `handleMemory`: handleBytes() of GPU memory, aligned to 16. kCollTimeout: the counts did not
  // arrive.
  Result<MoeReceived> dispatch(const MoeTokens &tokens, const MoeRouting &routing,
                               const MoeLayout &layout, const MoeDispatchOptions &options,
                               void *handleMemory, const MoeOrder &order);
  // Cached mode: indices and weights are not sent, nothing is counted, and the host does not wait.
  Result<MoeReceived> dispatchAgain(const MoeTokens &tokens, const MoeHandle &handle,
                                    const MoeConfig &config, const MoeOrder &order);

  // Finds the places of tokens as a dispatch does, and moves none: for a combine along targets that
  // the caller has kept. On one node only. `layout` as from dispatchLayout(); of tokensPerExpert
  // numRanks values are read, and not used. `capacity`: the most tokens that a rank may receive.
  Result<MoeHandle> places(const MoeLayout &layout, int64_t numTokens, int64_t capacity,
                           const MoeConfig &config, void *handleMemory, const MoeOrder &order);

  // Rows for combine that are written here need no copy.
  void *combineInput() const { return isDestroyed_ ? nullptr : area(kGiven); }
  // Rows are read in place if `x` is combineInput() or MoeReceived::x, which must be the same
  // choice on all ranks, even on one without rows.
  Status combine(const MoeCombine &combine, const MoeHandle &handle, const MoeConfig &config,
                 const MoeOrder &order);

  // --- the low-latency mode (low_latency.h), in its own memory, so calls of both modes may follow
  // each other without a clean-up. No call blocks, so calls may be captured; all ranks replay a
  // graph. Between nodes a thread of the buffer moves messages without being told of calls, and
  // check() reports what it finds. All ranks make the same calls in the same order, but may choose
  // `hook`, `previous` and `numSms` as they like.

  // GPU memory that the mode needs besides nvlBytes, unless netBytes is larger: two buffers, which
  // calls use in turns.
  static int64_t lowLatencyBytes(const MoeLowLatencyShape &shape, int numRanks);
  // Pinned memory that the mode needs with several nodes: messages to and from their ranks.
  static int64_t lowLatencyHostBytes(const MoeLowLatencyShape &shape, int numRanks, int nodeSize);
  // Sends and receives. With a hook it only sends, and lowLatencyReceive() does the rest; in
  // between nothing runs on this GPU. check() reports wrong indices once.
  Status lowLatencyDispatch(const MoeLowLatencyDispatch &call, const MoeLowLatencyRows &rows,
                            const MoeOrder &order, MoeHook *hook = nullptr);
  // `rows` are those of the dispatch. They are sent without a copy.
  Status lowLatencyCombine(const MoeLowLatencyCombine &call, const MoeLowLatencyRows &rows,
                           const MoeOrder &order, MoeHook *hook = nullptr);
  // Call it once for each hook. Up to two calls may wait to be received, in any order. The memory
  // of the call must still exist.
  Status lowLatencyReceive(const MoeHook &hook, const MoeOrder &order);
  // [L][R * maxTokens][hidden] bf16 in the buffer of the next call, which has to be a combine:
  // experts may write their rows here and need no memory of their own.
  Result<MoeView> lowLatencyCombineInput() const;
  // From here on calls have this shape, and both buffers are empty. All ranks call it, after the
  // same calls, with the same shape. kCollInvalidCall if it needs more bytes than the mode has here
  // or larger messages between nodes than the first shape, or if a call was not received; then
  // nothing has changed on this rank. It does not block. It must not be captured, and graphs of
  // earlier calls must not be replayed.
  Status lowLatencyClean(const MoeLowLatencyShape &shape, const MoeOrder &order);

private:
  enum Half { kReceived, kGiven };
  // The tokens that a launch moves, and their places at their receivers.
  struct TokenMove {
    int64_t numTokens = 0;
    const int64_t *topkIdx = nullptr;
    const int32_t *rankPrefix = nullptr, *sendHead = nullptr, *sourceIdx = nullptr;
    int64_t firstExpert = 0;
  };

  MoeBuffer(const MoeBufferOptions &options, const MoePlatform &platform)
      : options_(options), platform_(platform) {}
  Status open();
  // Adds the rank to a failure. Public calls return the result; internal functions do not name the
  // rank.
  Status named(const Status &status) const;
  template <typename T>
  Result<T> named(Result<T> result) const {
    return result.ok() ? std::move(result) : Result<T>(named(result.status()));
  }
  Status alive();
  Status ready();          // whether a call may be made
  Status readyForNormal(); // whether a call of the normal mode may be made
  Status readyForLowLatency();
  // The number of a kernel's blocks that surely run at once, besides those of ranks on the same
  // GPU.
  Status share(const std::vector<MoeCard> &cards);
  uint64_t halfBytes() const { return static_cast<uint64_t>(options_.nvlBytes) / 2 / 512 * 512; }
  char *areaOf(int rank, Half half) const {
    return group_.workspace[rank] + group_.layout.bytes + (half == kGiven ? halfBytes() : 0);
  }
  char *area(Half half) const { return areaOf(nvlRank(), half); }
  MoeWorld world() const { return {options_.rank, options_.numRanks, options_.nodeSize}; }
  Status driver(dl::CudaResult result, const char *call) const { return gpu_->check(result, call); }
  Status checkConfig(const MoeConfig &config) const;
  Status begin(const MoeOrder &order);
  Status end(const MoeOrder &order);
  kernels::MoeShape shapeOf(const MoeTokens &tokens, int numTopk, int numExperts) const;
  Status move(const MoeTokens &tokens, const kernels::MoeShape &shape, const TokenMove &tokenMove,
              const MoeConfig &config, dl::CudaStream stream);
  void pointTo(const kernels::MoeShape &shape, MoeReceived &received) const;
  MoeHandle handleIn(const char *memory, const MoeLayout &layout, std::shared_ptr<const MoeWay> way,
                     const MoeConfig &config) const;
  Status checkHandle(const MoeHandle &handle) const;
  kernels::MoeNotifyArgs notifyArgs(const MoeLayout &layout, int64_t numTokens, int numExperts,
                                    const MoeConfig &config, char *handleMemory) const;
  Status awaitCounts(dl::CudaEvent end, int localExperts, MoeReceived &received);
  // The shape of the rows that a rank gives back.
  kernels::MoeShape shapeOf(const MoeCombine &combine) const;
  // Puts the rows that a rank gives back where peers look for them; returns the arguments that all
  // launches share.
  Result<kernels::MoeCombineArgs> give(const MoeCombine &combine, const MoeConfig &config,
                                       dl::CudaStream stream);

  bool isBusy() const;
  Status kernelsFailure() const;
  Status failureOf(uint64_t word) const; // the failure that a kernel has reported
  // Ok, or why an exchange with other nodes must end.
  Status watch();
  // Fails the buffer because of a failure of an exchange with other nodes, and tells the others.
  // Returns the reason. Any thread may call it.
  Status settle(const Status &failure);
  // The outcome of this rank's part in a call that all ranks make. If the driver has failed it,
  // other ranks would wait, so between nodes the failure is settled. A call that was refused has
  // begun nothing.
  Status joint(const Status &part);
  Status reasonOf(const Status &failure); // the reason that the links report, or ok

  // buffer_across.cc
  Result<MoeReceived> dispatchAcross(const MoeTokens &tokens, const MoeRouting &routing,
                                     const MoeLayout &layout, const MoeDispatchOptions &options,
                                     char *handleMemory, const MoeOrder &order);
  // Runs `work` in the thread, on nodes_->stream(), after the present work of the communication
  // stream.
  Result<uint32_t> post(std::function<Status()> work);
  // Finds the routes of a dispatch, and writes the arrays of its handle.
  Status routeAcross(const MoeCallSign &sign, const MoeLayout &layout, int numChannels,
                     char *memory, MoeWay &way);
  Status fillHandle(const MoeRoutes &routes, const std::vector<uint8_t> &isTokenInRank,
                    int numChannels, char *memory);
  // The rows of a posted call, within and between nodes. Without a routing it follows known routes.
  struct Crossing {
    MoeTokens tokens;
    const int64_t *topkIdx = nullptr;
    bool isAgain = false;
    kernels::MoeShape shape;
    kernels::MoeRecord record;
    MoeConfig config;
    std::shared_ptr<const MoeWay> way;
  };
  Crossing crossingOf(const MoeTokens &tokens, const MoeRouting *routing,
                      std::shared_ptr<const MoeWay> way, const MoeConfig &config) const;
  Status postCrossing(const Crossing &crossing, MoeReceived &received);
  Status checkReceivers(const MoeRoutes &routes, const kernels::MoeShape &shape) const;
  Status checkRoom(const Crossing &crossing) const;
  Status moveAcross(const Crossing &crossing);
  Result<MoeReceived> dispatchAgainAcross(const MoeTokens &tokens, const MoeHandle &handle,
                                          const MoeConfig &config, const MoeOrder &order);
  Status postCombine(const MoeCombine &combine, const MoeHandle &handle, const MoeConfig &config,
                     const MoeOrder &order);
  Status combineAcross(const MoeCombine &combine, const std::shared_ptr<const MoeRoutes> &known,
                       const MoeConfig &config);

  // buffer_low_latency.cc
  Status openLowLatency();
  dl::CudaAddress lowLatencyBuffer(uint64_t number) const; // of the two buffers
  Status clearLowLatency();
  Status reshapeLowLatency(const MoeLowLatencyShape &shape);
  Status enqueueClean(const MoeLowLatencyShape &shape, const MoeOrder &order);
  Status checkClean(const MoeLowLatencyShape &shape) const;
  // Waits on the stream until all ranks of the node have reached it with the same shape.
  Status meet(const MoeLowLatencyShape &shape);
  int64_t lowLatencyOffset() const; // in the workspace
  int64_t lowLatencyRoom() const;   // bytes from that offset on
  kernels::LowLatencyCall lowLatencyCall(const MoeRouting &routing, int numSms) const;
  template <typename Args>
  Status sendLowLatency(Args args, const MoeOrder &order, MoeHook *hook);
  template <typename Args>
  Status launchLowLatency(const Args &args, const MoeOrder &order);

  void release();

  const MoeBufferOptions options_;
  const MoePlatform platform_;
  std::shared_ptr<dl::GpuContext> gpu_;
  std::unique_ptr<MoeMemory> memory_;
  dl::GpuMemory pinned_; // Words
  struct Words;
  Words *words_ = nullptr;
  uint64_t *indexError_ = nullptr;  // word in pinned_, for the GPU
  dl::CudaStream stream_ = nullptr; // the options', or its own
  dl::CudaEvent before_ = nullptr, after_ = nullptr;
  kernels::PeerGroup group_;
  int mostSms_ = 0;                  // this rank's share of its GPU
  std::unique_ptr<MoeNodes> nodes_;  // with several nodes
  std::unique_ptr<CallQueue> calls_; // calls of the normal mode across nodes; ends before nodes_
  // Referenced by the MoeWay of handles, which may outlive the buffer: it is unique to this buffer.
  const std::shared_ptr<const char> mark_ = std::make_shared<char>();
  std::mutex mutex_; // protects failure_
  Status failure_;   // of the exchange with other nodes
  MoeLowLatencyShape lowLatencyShape_ = options_.lowLatencyShape;
  int64_t lowLatencyCalls_ = 0;
  // The calls in the two buffers that have yet to be received.
  std::variant<std::monostate, kernels::LowLatencyDispatchArgs, kernels::LowLatencyCombineArgs>
      pending_[2];
  MoeCard card_;
  bool isAvailable_ = false, isDestroyed_ = false;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_BUFFER_H
