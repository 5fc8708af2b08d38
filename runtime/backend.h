// backend.h - what a communication backend offers to the runtime.
//
// A Backend connects the ranks of a job; an Endpoint is one rank's view of it; a
// Communicator is one rank's membership of a group. The runtime validates a Call
// against communicator and types before it hands it on (see Call), so backends
// check only what needs the peers: that all members make the same call.
//
// Threads: an Endpoint and its Communicators and Requests belong to one thread at a
// time. Backend::endpoint and Endpoint::abort may be called from any thread.
//
// Failure: an operation that fails, fails on every rank that waits for it; the first
// failure of any rank aborts the job, so that no rank waits for ever. No later
// operation of an aborted job succeeds.

#ifndef COLL_RUNTIME_BACKEND_H
#define COLL_RUNTIME_BACKEND_H

#include "runtime/abi.h"
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

// Where in the program a call comes from; the texts outlive the call. `program`
// tells apart rank classes: op ids are comparable only where it is equal.
struct CallSite {
  int32_t op = -1;
  int32_t program = 0;
  const char *loc = "";
  const char *name = "";
};

// One communication call, as in abi.def; fields that a kind does not use are zero.
// The caller guarantees: counts >= 0 and no overflow of sizes in bytes; root, peer
// and pairs inside the group, no target and no source twice; a reduction that the
// type takes; an accumulation in f32 only of floats narrower than it; pointers null only
// where the size is zero.
struct Call {
  OpKind kind = OpKind::Barrier;
  CollDtype dtype = kCollF32;
  CollReduction reduction = kCollSum;
  // F32 is a promise: a backend that cannot keep it refuses the call (kCollUnsupported).
  CollAccumulation accumulation = kCollAccumulateAny;
  CollOrder order = kCollOrderAny;
  int32_t root = 0;
  int32_t peer = 0;
  int64_t tag = 0;
  const void *src = nullptr;
  void *dst = nullptr;
  int64_t outer = 1; // all_to_all: src_outer
  int64_t count = 0; // all_to_all: src_count
  int64_t dstOuter = 1;
  int64_t dstCount = 0;
  const int32_t *pairs = nullptr; // numPairs × {source, target}; valid until wait
  int32_t numPairs = 0;
  CallSite site;
};

// "all_reduce sum f32 x 1024 (op 3 at train.py:12:3)": for messages.
std::string describe(const Call &call);
// "[0, 1, 2, 3]", shortened where it is long.
std::string describeGroup(const std::vector<int> &ranks);

// An operation in flight. Made by Communicator::start, ended by Endpoint::wait.
class Request {
public:
  virtual ~Request() = default;
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
  // Does not block. The buffers belong to the backend until the request is waited for.
  virtual Result<Request *> start(const Call &call) = 0;
};

class Endpoint {
public:
  virtual ~Endpoint() = default;

  // Does not communicate: members may ask at any time, or never. `ranks` repeats no
  // rank and contains this endpoint's. The endpoint must outlive the communicator.
  virtual Result<std::unique_ptr<Communicator>> communicator(std::vector<int> ranks) = 0;

  // Blocks until the request is complete and ends it, also where it fails.
  virtual Status wait(Request *request) = 0;
  // Requests started and not waited for.
  virtual int inFlight() const = 0;

  // This rank begins, or ends, a stretch of program. Peers that wait for a rank
  // that has left fail with kCollPeer. leave() ends what is in flight: afterwards
  // no buffer of this rank is touched. All ranks of a process enter before any of them
  // makes a call; in a job of several, all make the same number of stretches.
  virtual void enter() = 0;
  virtual void leave() = 0;

  // Fails the job: `cause` reaches every rank that waits, as kCollAborted.
  virtual void abort(const Status &cause) = 0;
};

// Where this process stands in a job of several processes with one rank each.
struct JobOptions {
  int rank = 0;
  int worldSize = 1;     // processes
  std::string bootstrap; // host:port of rank 0
  std::string secret;    // what all processes of the job know
  std::string iface;     // as COLL_NET_IFACE
  int listenFd = -1;     // rank 0: a listening socket to use, which it then owns
};

struct BackendOptions {
  int numRanks = 1;
  int64_t timeoutUs = 60'000'000; // longest wait for one operation
  std::string transport;          // net: by name; empty: COLL_NET_TRANSPORT
  std::optional<JobOptions> job;  // absent: all ranks are in this process
};

class Backend {
public:
  virtual ~Backend() = default;
  // The ranks of this process, ascending.
  virtual std::vector<int> localRanks() const = 0;
  // The endpoint of a local rank; called once per rank. The backend must outlive it.
  virtual Result<std::unique_ptr<Endpoint>> endpoint(int rank) = 0;
};

// By name ("threads", …); an unknown name fails and lists the known ones.
Result<std::unique_ptr<Backend>> createBackend(const std::string &name,
                                               const BackendOptions &options);
std::vector<std::string> backendNames();

} // namespace coll::rt

#endif // COLL_RUNTIME_BACKEND_H
