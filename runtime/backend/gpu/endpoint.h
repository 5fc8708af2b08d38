// endpoint.h - one rank's side of a backend that moves GPU memory by an engine.
//
// The control endpoint does on host memory what the engine cannot do: members send each other their
// calls (card.h), senders and receivers meet by tag, and failures reach every rank. An operation is
// complete when its members' calls agree and the GPU has finished it.
//
// Progress: a rank that waits advances everything that it has in flight. Only the rank's thread may
// call it, except for abort(), which any thread may call.

#ifndef COLL_RUNTIME_BACKEND_GPU_ENDPOINT_H
#define COLL_RUNTIME_BACKEND_GPU_ENDPOINT_H

#include "runtime/backend/gpu/engine.h"
#include "runtime/backend/gpu/request.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::rt::gpu {

struct EndpointOptions {
  int64_t timeoutUs = 60'000'000;
  Comparison comparison = Comparison::Every;
  int64_t spinUs = 20;
};

class GpuEndpoint final : public Endpoint {
public:
  // `below` serves the calls that this endpoint does not take. The control endpoint is `below`, or
  // the endpoint for host memory below that.
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
  bool takesCaptures() const override { return true; }
  bool isCapturing(void *stream) const override;

  Status run(Group &group, const Call &call);
  Result<Request *> start(Group &group, const Call &call);
  // Blocks until the group is connected.
  Status prepare(Group &group);
  // Makes a call on the control endpoint. Blocks, while requests in flight here progress.
  Status meet(Group &group, const Call &call);
  // Blocks until the engine has done everything that was put on the group's lane.
  Status settle(Group &group);
  // The group of a rank list; created if there is none.
  Result<Group *> group(std::vector<int> ranks);

  int rank() const { return rank_; }
  Gpu &gpu() { return *gpu_; }
  Engine &engine() { return *engine_; }

private:
  using Clock = std::chrono::steady_clock;

  Status check(const Group &group, const Call &call) const;
  Status checkBuffer(const void *data, CollDtype dtype, const char *what) const;
  Result<Request *> startChecked(Group &group, const Call &call, bool onCallersStream);
  Status begin(GpuRequest &request);

  // Collectives: collectives.cc.
  Status beginCollective(GpuRequest &request);
  Status exchangeCards(GpuRequest &request);
  Status advanceCollective(GpuRequest &request);
  // Transfers: transfers.cc.
  Status beginTransfer(GpuRequest &request);
  Status beginToItself(GpuRequest &request);
  Status copyToItself(GpuRequest &send, GpuRequest &recv);
  Status advanceSend(GpuRequest &request);
  Status advanceRecv(GpuRequest &request);
  bool isFirstOfItsTag(const GpuRequest &request) const;
  Status identify(TransferLane &lane, Card &card);
  Status connect(TransferLane &lane, const Card &sender, const Card &receiver);
  Status putInTurn(TransferLane &lane, int64_t ticket, GpuRequest &request);
  TransferLane &transferLane(int sender, int receiver);
  Status tell(GpuRequest &request, const Card &card, int peer, int64_t tag);
  Status hear(GpuRequest &request, int peer, int64_t tag);

  void advanceAll();
  void advanceBeside(bool looks);
  Status advance(GpuRequest &request);
  bool isSuspect() const;
  Status healthOfLanes();
  bool isComplete(GpuRequest &request, Status &failure);
  // Ends a control request that is complete.
  Status collect(Request *&request);
  bool heard(Request *request) { return request && control_.test(request); }

  // Polls until `done`, the deadline or a failure of the job.
  Status waitUntil(const std::function<bool()> &done, const GpuRequest *request);
  // The same without a request. Every end other than `done` ends the job, including an error of
  // `done`.
  Status waitFor(const std::function<Result<bool>()> &done);
  bool mayReturn(const GpuRequest &request) const;
  Status finish(GpuRequest *request);
  // Returns a call that is on its caller's stream to the caller, before it was compared.
  Status release(std::unique_ptr<GpuRequest> request);
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
  // The endpoint of the same rank above or below this one: while one of them waits, it also
  // advances the other.
  GpuEndpoint *beside_ = nullptr;
  std::map<std::vector<int>, std::unique_ptr<Group>> groups_;
  std::map<std::pair<int, int>, std::unique_ptr<TransferLane>> transfers_; // by sender and receiver
  std::vector<GpuRequest *> pending_; // not finished, in the order of their start
  std::vector<std::unique_ptr<GpuRequest>> started_;
  // Returned to the caller, and not compared yet.
  std::vector<std::unique_ptr<GpuRequest>> released_;
  bool over_ = false;
  bool hasLeft_ = false; // left, and has not entered again
  // Events between calls on streams that have returned, one per kCallsPerMark calls, the oldest
  // first.
  std::map<dl::CudaStream, std::deque<dl::CudaEvent>> marks_;
  int unmarked_ = 0;

  std::mutex causeMutex_;
  Status cause_; // why the job is over, as far as this rank knows
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
  bool reachesMembers() const override { return endpoint_.engine().reachesMembers(); }
  std::vector<void *> addressesOf(const void *data, int64_t bytes) const override {
    return endpoint_.engine().addressesOf(*group_.lane, data, bytes);
  }

private:
  GpuEndpoint &endpoint_;
  Group &group_;
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_ENDPOINT_H
