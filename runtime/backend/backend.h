// backend.h - the interface of communication backends to the runtime.
//
// A Backend connects the ranks of a job; an Endpoint is one rank's view of it; a Communicator is
// one rank's membership of a group. The runtime validates a Call against communicator and types
// before it passes it on (see Call), so backends check only what involves the peers: that all
// members make the same call.
//
// Buffers are host memory, or GPU memory if the backend accepts it (supports()).
//
// Streams: the buffers of a call may be GPU memory that a stream still writes or reads.
//   - Without a stream (Call::stream is null) the GPU must have finished with the buffers before
//     the call. When run() or wait() has returned, the results are in memory.
//   - With a stream, the call runs after all work that was put on the stream before it, and before
//     all work that is put on the stream after run() or wait() has returned. A backend that works
//     on streams itself (nccl) waits for the GPU in neither; a backend that works from the host
//     (net) waits for the stream first. Later failures on the GPU are reported by
//     Endpoint::synchronize() and by every following call. A captured stream is replayed as it was
//     captured, so its calls are compared between members once, at the capture. Either all members
//     capture a call, or none.
//
// Threads: an Endpoint and its Communicators and Requests belong to one thread at a
// time. Backend::endpoint and Endpoint::abort may be called from any thread.
//
// Failure: an operation that fails, fails on every rank that waits for it. The first failure of any
// rank aborts the job, so that no rank waits for ever. No later operation of an aborted job
// succeeds.

#ifndef COLL_RUNTIME_BACKEND_BACKEND_H
#define COLL_RUNTIME_BACKEND_BACKEND_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coll::rt {

enum class OpKind : uint8_t {
  Init,
  AllReduce,
  Reduce,
  Broadcast,
  AllGather,
  Gather,
  Scatter,
  ReduceScatter,
  AllToAll,
  Permute,
  RootUpdate,
  Barrier,
  Send,
  Recv,
};

// "all_reduce", …
const char *kindName(OpKind kind);
// Which fields of a Call the kind uses.
bool reduces(OpKind kind);
bool hasRoot(OpKind kind);
bool isTransfer(OpKind kind); // send or recv

// The place in the program that a call comes from; the texts outlive the call. Op ids are
// comparable only if `program` is equal: it distinguishes rank classes. `within` is the kind of an
// operation that makes several calls: "dispatch".
struct CallSite {
  int32_t op = -1;
  int32_t program = 0;
  const char *loc = "";
  const char *name = "";
  const char *within = "";
  uint64_t trace = 0; // span of the call (base/trace.h); 0: it is not traced
};

// The parts of an optimizer's step besides its buffers. The owner of the step creates it and keeps
// it until the call is complete: backend/direct/root_update.h.
class RootUpdateSpec {
public:
  virtual ~RootUpdateSpec() = default;
  virtual CollDtype parameterType() const = 0;
  // "adam": for messages.
  virtual const char *optimizer() const = 0;
  // Equal on two members if their steps match: plans, optimizers and types.
  virtual uint64_t mark() const = 0;
};

// One communication call, as in abi.def; fields that a kind does not use are zero.
// Tags below zero are the runtime's own (tokens/calls.h).
// The caller guarantees: counts >= 0 and no overflow of sizes in bytes; root, peer
// and pairs inside the group, no target and no source twice; a reduction that the
// type takes; an accumulation in f32 only of floats narrower than it; pointers null only
// where the size is zero.
struct Call {
  OpKind kind = OpKind::Barrier;
  CollDtype dtype = kCollF32;
  CollReduction reduction = kCollSum;
  // With F32, a backend that cannot accumulate in f32 must reject the call (kCollUnsupported).
  CollAccumulation accumulation = kCollAccumulateAny;
  CollOrder order = kCollOrderAny;
  int32_t root = 0;
  int32_t peer = 0;
  int64_t tag = 0;
  const void *src = nullptr;
  void *dst = nullptr;
  int64_t outer = 1; // all_to_all: src_outer
  int64_t count = 0; // all_to_all: src_count; root_update: of the gradients, in `src`
  int64_t dstOuter = 1;
  int64_t dstCount = 0;           // root_update: of the parameters, in `dst`
  const int32_t *pairs = nullptr; // numPairs × {source, target}; valid until wait
  int32_t numPairs = 0;
  const RootUpdateSpec *update = nullptr;
  // Sums and averages of floats multiply each contribution by it first. Other than 1 only if
  // supports() accepts it.
  double scale = 1;
  // A CUstream of the buffers' GPU, or null: none. The GPU's default streams are called by
  // their handles, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
  void *stream = nullptr;
  CallSite site;
};

// "all_reduce sum f32 x 1024 (op 3 at train.py:12:3)": for messages.
std::string describe(const Call &call);
// "launch (op 3 at train.py:12:3)", or "launch" where the program does not say.
std::string describe(const CallSite &site);
// "[0, 1, 2, 3]", shortened if it is long.
std::string describeGroup(const std::vector<int> &ranks);

// An operation in flight. Made by Communicator::start, ended by Endpoint::wait.
class Request {
public:
  virtual ~Request() = default;
};

// GPU memory that a communicator knows. The destructor unregisters it, and frees it if allocate()
// made it. Destroy it before its communicator, and after the last call or replay that uses it.
class Registration {
public:
  virtual ~Registration() = default;
  virtual void *data() const = 0;
  // "user buffer", "symmetric window": the backend's kind of registration.
  virtual std::string kind() const = 0;
};

class Communicator {
public:
  virtual ~Communicator() = default;
  // Global rank numbers of the members, in group order.
  virtual const std::vector<int> &ranks() const = 0;
  // This rank's index in ranks().
  virtual int position() const = 0;

  // Blocks until the call is complete on this rank, or the deadline has passed.
  virtual Status run(const Call &call) = 0;
  // Does not block. The backend owns the buffers until the request was waited for.
  virtual Result<Request *> start(const Call &call) = 0;

  // Registers GPU memory that calls will use often, so that peers can reach it directly. Calls
  // accept any other memory too. All members call it, with the same size, in the same order; if one
  // member passes this memory to a call, all pass theirs, at the same offset. Blocks.
  virtual Result<std::unique_ptr<Registration>> registerMemory(void *data, int64_t bytes);
  // Allocates memory of this rank's GPU in the form that calls reach fastest: symmetric on all
  // members if the backend can. As with registerMemory, all members call it. Blocks.
  virtual Result<std::unique_ptr<Registration>> allocate(int64_t bytes);
  // Whether kernels on this rank's GPU can access such memory of all members. The same on all
  // members.
  virtual bool reachesMembers() const { return false; }
  // The addresses, by member, of the memory that corresponds to [data, data + bytes) in such memory
  // of this rank. Empty if `data` is not in such memory, or if reachesMembers() is false.
  virtual std::vector<void *> addressesOf(const void *data, int64_t bytes) const;
};

class Endpoint {
public:
  virtual ~Endpoint() = default;

  // Does not communicate: members may ask at any time, or never. `ranks` repeats no
  // rank and contains this endpoint's. The endpoint must outlive the communicator.
  virtual Result<std::unique_ptr<Communicator>> communicator(std::vector<int> ranks) = 0;

  // Blocks until the request is complete, and ends it, even if it fails.
  virtual Status wait(Request *request) = 0;
  // Whether the request is complete or has failed: then wait() returns at once, with the outcome.
  // Does not block; advances what is in flight.
  virtual bool test(Request *request) = 0;
  // Blocks until the GPU has done everything on the stream of this rank's GPU, or the deadline has
  // passed, and returns the first failure of the calls on it.
  virtual Status synchronize(void *stream);
  // The endpoint below this one that serves host memory: calls on it count as calls on this one.
  // Null if there is none.
  virtual Endpoint *host() { return nullptr; }
  // The GPU that owns this memory; -1 if this backend knows of none.
  virtual int gpuOf(const void *data) const;
  // Whether calls on GPU memory can be captured by a graph: all of them are put on streams.
  virtual bool takesCaptures() const { return false; }
  // Whether a graph captures the work on the stream, as far as this backend knows.
  virtual bool isCapturing(void *stream) const;
  // Ok, or the reason why no further operation can succeed: the job was aborted, or a peer has died
  // and this rank knows it. Does not block.
  virtual Status health() = 0;
  // Requests started and not waited for.
  virtual int inFlight() const = 0;

  // This rank begins, or ends, a stretch of the program. Peers that wait for a rank that has left
  // fail with kCollPeer. leave() ends everything in flight: afterwards no buffer of this rank is
  // used. All ranks of a process enter before any of them makes a call; in a job of several
  // processes, all make the same number of stretches.
  virtual void enter() = 0;
  virtual void leave() = 0;

  // Fails the job: `cause` reaches every rank that waits, as kCollAborted.
  virtual void abort(const Status &cause) = 0;
};

// This process's part in a job of several processes with one rank each.
struct JobOptions {
  int rank = 0;
  int worldSize = 1;     // processes
  std::string bootstrap; // host:port of rank 0
  std::string secret;    // known to all processes of the job
  std::string iface;     // as COLL_NET_IFACE
  int listenFd = -1;     // rank 0: a listening socket to use, which it then owns
  int gpu = -1;          // of this process's rank; -1: as the launcher numbers ranks of a host
};

struct BackendOptions {
  int numRanks = 1;
  int64_t timeoutUs = 60'000'000; // longest wait for one operation; at most kMostTimeoutUs
  std::string transport;          // net: by name; empty: COLL_NET_TRANSPORT
  std::optional<JobOptions> job;  // absent: all ranks are in this process
  // Groups that will be used, if known: the same lists in the same order on all ranks. Some
  // backends create them faster at the start than at their first call.
  std::vector<std::vector<int>> groups;
};

class Backend {
public:
  virtual ~Backend() = default;
  // The ranks of this process, ascending.
  virtual std::vector<int> localRanks() const = 0;
  // The endpoint of a local rank; called once per rank. The backend must outlive it.
  virtual Result<std::unique_ptr<Endpoint>> endpoint(int rank) = 0;
  // Ok, or kCollUnsupported with the reason why it rejects calls like this one, whatever their
  // buffers. The same on all ranks.
  virtual Status supports(const Call &call) const;
  // The backend whose endpoints Endpoint::host() returns; null if it returns none.
  virtual const Backend *below() const { return nullptr; }
};

// By name ("threads", …); an unknown name fails and lists the known ones.
Result<std::unique_ptr<Backend>> createBackend(const std::string &name,
                                               const BackendOptions &options);
std::vector<std::string> backendNames();

} // namespace coll::rt

#endif // COLL_RUNTIME_BACKEND_BACKEND_H
