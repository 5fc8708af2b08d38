// endpoint.h - one rank's side of a backend that moves GPU memory by an engine.
//
// What the engine does not do, the control endpoint does, on host memory: the members tell each
// other their calls (card.h), senders and receivers find each other by their tags, failures
// reach everyone. An operation is complete when its members' calls agree and the GPU is done
// with it.
//
// Progress: a rank that waits advances all that it has in flight.

#ifndef COLL_RUNTIME_GPU_ENDPOINT_H
#define COLL_RUNTIME_GPU_ENDPOINT_H

#include "runtime/gpu/card.h"
#include "runtime/gpu/engine.h"
#include "runtime/gpu/lane.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace coll::rt::gpu {

// Which calls of a group are compared between its members: the first one, to connect; those
// that are unlike all before, and once in a while any; or all.
enum class Comparison { First, Unlike, Every };
// As COLL_NCCL_CHECK and COLL_DIRECT_CHECK have them: 0, 1, 2.
inline Comparison comparisonOf(int64_t check) {
  return check == 0 ? Comparison::First : check == 1 ? Comparison::Unlike : Comparison::Every;
}

// The calls that a group has made. All members make the same, so they all find the same.
class CallHistory {
public:
  // Notes a call, and where its destination is in memory that all members know (or -1); whether
  // none like it has been noted before.
  bool note(const CallSignature &signature, int64_t place);
  // What was noted before the last call, in order.
  uint64_t hash() const { return before_; }
  // Whether it is time to compare any call, as it ends a stretch that was known from before.
  bool isDue() const { return count_ % kStretch == 0; }

private:
  static constexpr uint64_t kStretch = 256;
  static constexpr size_t kMostKnown = 4096;
  std::unordered_set<uint64_t> known_;
  uint64_t count_ = 0, before_ = 0, now_ = 0;
};

// A rank list, the same for all communicators with it.
struct Group {
  Group(std::vector<int> ranks, int position) : ranks(std::move(ranks)), position(position) {}

  int size() const { return static_cast<int>(ranks.size()); }
  int rankAt(int i) const { return ranks[static_cast<size_t>(i)]; }

  const std::vector<int> ranks;
  const int position;
  std::unique_ptr<Communicator> control;
  std::unique_ptr<Lane> lane;
  bool introduced = false; // a call that makes the lane has begun
  CallHistory history;
};

// One direction between two ranks.
struct TransferLane {
  std::unique_ptr<Lane> lane;
  Identity identity; // this rank's
  bool identified = false;
  int64_t nextTicket = 0;
  std::map<int64_t, LaneOp *> early; // of the sender: their turn has not come
};

struct GpuRequest final : Request {
  GpuRequest(Group &group, const Call &call) : group(group) { op.call = call; }

  const Call &call() const { return op.call; }

  Group &group;
  LaneOp op;
  Lane *lane = nullptr; // which it is on, or will be
  // What is under way on the control backend; its buffers are the cards.
  Request *told = nullptr, *heard = nullptr;
  std::vector<char> mine, theirs;
  Card card; // mine, decoded
  // Of a collective: its cards carry what connects the lane.
  bool introduces = false;
  bool met = false; // of a transfer: its other half is known
  bool agreed = false;
  bool compared = false; // the members have made the call
  bool ordered = false;  // the caller's stream waits for it
  Status verdict;        // of the comparison, until everyone has it
  bool finished = false;
  Status outcome; // where finished
};

struct EndpointOptions {
  int64_t timeoutUs = 60'000'000;
  Comparison comparison = Comparison::Every;
  int64_t spinUs = 20;
};

class GpuEndpoint final : public Endpoint {
public:
  // `below` serves what this one does not take. It, or what it stands on, is the control
  // endpoint.
  GpuEndpoint(int rank, std::unique_ptr<Gpu> gpu, std::unique_ptr<Engine> engine,
              std::unique_ptr<Endpoint> below, const EndpointOptions &options);
  ~GpuEndpoint() override;

  Result<std::unique_ptr<Communicator>> communicator(std::vector<int> ranks) override;
  Status wait(Request *request) override;
  bool test(Request *request) override;
  int inFlight() const override { return static_cast<int>(started_.size()); }
  void enter() override;
  void leave() override;
  void abort(const Status &cause) override;
  Status synchronize(void *stream) override;
  Status health() override;
  Endpoint *host() override { return below_.get(); }
  int gpuOf(const void *data) const override;

  Status run(Group &group, const Call &call);
  Result<Request *> start(Group &group, const Call &call);
  // Blocks until the group is connected.
  Status prepare(Group &group);
  // Blocks until the engine has done what was asked of the group's lane.
  Status settle(Group &group);
  // The group of a rank list; made where there is none.
  Result<Group *> group(std::vector<int> ranks);

  int rank() const { return rank_; }
  Gpu &gpu() { return *gpu_; }
  Engine &engine() { return *engine_; }

private:
  using Clock = std::chrono::steady_clock;

  Status check(const Group &group, const Call &call) const;
  Result<Request *> startChecked(Group &group, const Call &call, bool onCallersStream);
  Status begin(GpuRequest &request);
  Status beginCollective(GpuRequest &request);
  Status beginTransfer(GpuRequest &request);
  Status beginToItself(GpuRequest &request);
  Status copyToItself(GpuRequest &send, GpuRequest &recv);

  void advanceAll();
  Status advance(GpuRequest &request);
  Status advanceCollective(GpuRequest &request);
  Status advanceSend(GpuRequest &request);
  Status advanceRecv(GpuRequest &request);
  Status identify(TransferLane &lane, Card &card);
  Status connect(TransferLane &lane, const Card &sender, const Card &receiver);
  Status putInTurn(TransferLane &lane, int64_t ticket, GpuRequest &request);
  TransferLane &transferLane(int sender, int receiver);
  bool isSuspect() const;
  bool isComplete(GpuRequest &request, Status &failure);
  // Ends a control request that is complete.
  Status collect(Request *&request);
  Status tell(GpuRequest &request, const Card &card, int peer, int64_t tag);
  Status hear(GpuRequest &request, int peer, int64_t tag);
  bool heard(Request *request) { return request && control_.test(request); }

  // Polls until `done`, the deadline or a failure of the job.
  Status waitUntil(const std::function<bool()> &done, const GpuRequest *request);
  bool mayReturn(const GpuRequest &request) const;
  Status finish(GpuRequest *request);
  Status bound(dl::CudaStream stream);
  void sweep();

  // Ends the job: everything in flight is finished afterwards.
  void fail(GpuRequest *request, const Status &failure);
  void end(GpuRequest &request, Status outcome);
  Status abortedStatus(const GpuRequest &request);
  Status timeoutStatus(const GpuRequest *request) const;
  std::string place(const GpuRequest &request) const;

  const int rank_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Endpoint> below_;
  Endpoint &control_;
  const EndpointOptions options_;
  std::map<std::vector<int>, std::unique_ptr<Group>> groups_;
  std::map<std::pair<int, int>, std::unique_ptr<TransferLane>> transfers_; // sender, receiver
  std::vector<GpuRequest *> pending_; // not finished, in the order of their start
  std::vector<std::unique_ptr<GpuRequest>> started_;
  // Returned to the caller, and not compared yet.
  std::vector<std::unique_ptr<GpuRequest>> released_;
  bool over_ = false;
  // Of calls on streams that have returned: every so many an event, the oldest first.
  std::deque<dl::CudaEvent> marks_;
  int unmarked_ = 0;

  std::mutex causeMutex_;
  Status cause_; // why the job is over, as far as this rank has found out or been told
};

class GpuCommunicator final : public Communicator {
public:
  GpuCommunicator(GpuEndpoint &endpoint, Group &group) : endpoint_(endpoint), group_(group) {}

  const std::vector<int> &ranks() const override { return group_.ranks; }
  int position() const override { return group_.position; }
  Status run(const Call &call) override { return endpoint_.run(group_, call); }
  Result<Request *> start(const Call &call) override { return endpoint_.start(group_, call); }
  Result<std::unique_ptr<Registration>> registerMemory(void *data, int64_t bytes) override {
    return endpoint_.engine().registerMemory(endpoint_, group_, data, bytes);
  }
  Result<std::unique_ptr<Registration>> allocate(int64_t bytes) override {
    return endpoint_.engine().allocate(endpoint_, group_, bytes);
  }

private:
  GpuEndpoint &endpoint_;
  Group &group_;
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_GPU_ENDPOINT_H
