// endpoint.h - one rank's side of the net backend.
//
// Progress: transports move data by themselves. The rank's thread does the steps in between while
// it is in a call, otherwise the process's progress thread does (progress.h). Either thread
// advances everything in flight, so requests may be waited for in any order.

#ifndef COLL_RUNTIME_BACKEND_NET_ENDPOINT_H
#define COLL_RUNTIME_BACKEND_NET_ENDPOINT_H

#include "runtime/backend/net/activity.h"
#include "runtime/backend/net/collective.h"
#include "runtime/backend/net/gpu/buffers.h"
#include "runtime/backend/net/idle.h"
#include "runtime/backend/net/mesh.h"
#include "runtime/backend/net/progress.h"

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::rt::network {

class NetCommunicator;
struct NetRequest;

// A rank list and the collectives on it; the same for all communicators with that list.
struct Group {
  std::vector<int> ranks;
  uint64_t hash = 0;
  int position = 0;
  uint64_t next = 0; // number of the next collective
  int active = 0;    // collectives that have begun and not ended
};

struct NetRequest final : Request {
  enum class Stage { Deferred, Running, Finished };

  NetRequest(Group &group, const Call &call) : group(group), call(call) {}

  Group &group;
  Call call;
  uint64_t number = 0;                       // of a collective
  std::atomic<Stage> stage{Stage::Deferred}; // stored last: reading it needs no lock
  std::unique_ptr<Activity> activity;        // Running; null for a transfer to itself
  Status outcome;                            // once Finished
};

struct EndpointOptions {
  int64_t timeoutUs = 60'000'000;
  int64_t spinUs = 20;           // time for which it polls before it sleeps
  CollectiveOptions collectives; // the same on all ranks
  GpuMoverOptions gpu;
};

class NetEndpoint final : public Endpoint, private Progress::Driven {
public:
  // `mesh` is connected to all ranks. `progress` outlives the endpoint.
  NetEndpoint(std::unique_ptr<Mesh> mesh, const EndpointOptions &options, Progress &progress);
  ~NetEndpoint() override;

  Result<std::unique_ptr<Communicator>> communicator(std::vector<int> ranks) override;
  Status wait(Request *request) override;
  bool test(Request *request) override;
  Status synchronize(void *stream) override;
  Status health() override;
  int gpuOf(const void *data) const override;
  int inFlight() const override { return static_cast<int>(started_.size()); }
  void enter() override;
  void leave() override;
  void abort(const Status &cause) override { abortJob(cause, /*key=*/0); }

  Status run(Group &group, const Call &call);
  Result<Request *> start(Group &group, const Call &call);

private:
  using Clock = std::chrono::steady_clock;

  // A call of the rank's thread: until it ends, no other thread advances what is in flight.
  class Turn {
  public:
    explicit Turn(NetEndpoint &endpoint);
    Turn(NetEndpoint &endpoint, std::try_to_lock_t);
    ~Turn();
    Turn(const Turn &) = delete;
    Turn &operator=(const Turn &) = delete;
    bool isOwn() const { return lock_.owns_lock(); }

  private:
    NetEndpoint &endpoint_;
    std::unique_lock<std::mutex> lock_;
  };

  Found look() override;

  // The functions below are called while the caller holds mutex_ (a turn or a look), unless the
  // comment says otherwise.
  Status prepare(const NetRequest &request); // without mutex_
  void begin(NetRequest &request);
  Status beginNow(NetRequest &request);
  bool mayBegin(const NetRequest &request) const;
  Result<std::unique_ptr<Activity>> makeActivity(NetRequest &request);
  Status beginToItself(NetRequest &request);
  // Blocks until the request is Finished.
  Status finish(NetRequest &request);
  void waitFor(NetRequest &request);
  // Advances everything once; true if something advanced. `waited` is the request that the rank
  // waits for, or null.
  bool poll(NetRequest *waited);
  bool advance(NetRequest &request);
  bool advanceAll();
  void end(NetRequest &request, Status outcome);
  void lookForAborts();

  // Ends the job. Any thread may call it, also outside a turn.
  void abortJob(const Status &cause, uint64_t key);
  void fail(NetRequest &request, const Status &failure);
  // Everything in flight is Finished afterwards, with the job's cause.
  void cancelAll();
  void close();
  bool aborted() const { return aborted_.load(std::memory_order_acquire); }

  Status abortedStatus(const NetRequest &request);
  Status failureOf(const NetRequest &request, const Status &failure);
  NetRequest *missesPeer(Status &why);
  Status timeoutStatus(const NetRequest &request);
  std::string place(const NetRequest &request) const;

  int rank() const { return mesh_->rank(); }

  Progress &progress_;
  std::mutex mutex_;                // held during a turn, or a look
  std::atomic<bool> wanted_{false}; // a turn waits for a look to end

  std::unique_ptr<Mesh> mesh_;
  EndpointOptions options_;
  std::unique_ptr<Mover> mover_;
  GpuBuffers gpu_;
  Idle idle_;
  uint64_t epoch_ = 0; // number of enter() calls; the same on all ranks
  uint64_t leftEpoch_ = 0;
  uint64_t transfers_ = 0;
  std::vector<int> activeTransfers_;                          // by peer
  std::map<std::vector<int>, std::unique_ptr<Group>> groups_; // only the rank's thread uses the map
  std::vector<NetRequest *> pending_;                         // not Finished
  std::vector<std::unique_ptr<NetRequest>> started_;          // only the rank's thread uses it
  int polls_ = 0;

  std::atomic<bool> aborted_{false};
  std::mutex causeMutex_;
  Status cause_; // the first failure; written once, before aborted_
  uint64_t causeKey_ = 0;
};

class NetCommunicator final : public Communicator {
public:
  NetCommunicator(NetEndpoint &endpoint, Group &group) : endpoint_(endpoint), group_(group) {}

  const std::vector<int> &ranks() const override { return group_.ranks; }
  int position() const override { return group_.position; }
  Status run(const Call &call) override { return endpoint_.run(group_, call); }
  Result<Request *> start(const Call &call) override { return endpoint_.start(group_, call); }

private:
  NetEndpoint &endpoint_;
  Group &group_;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_ENDPOINT_H
