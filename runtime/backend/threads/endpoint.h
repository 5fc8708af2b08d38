// endpoint.h - one rank's side of the threads backend.
//
// Progress: a rank that waits for one request also advances all others that it has in flight, so
// requests may be waited for in any order. A rank that computes makes no progress, but once every
// member has posted a collective, any waiting member can finish it alone.

#ifndef COLL_RUNTIME_BACKEND_THREADS_ENDPOINT_H
#define COLL_RUNTIME_BACKEND_THREADS_ENDPOINT_H

#include "runtime/backend/threads/group.h"

#include <chrono>
#include <memory>
#include <vector>

namespace coll::rt::threads {

class ThreadsCommunicator;

struct ThreadsRequest final : Request {
  enum class Stage { Deferred, Posted, Finished };

  ThreadsRequest(ThreadsCommunicator &communicator, const Call &call);

  ThreadsCommunicator &communicator;
  Transfer transfer; // holds the request's call, for collectives too
  uint64_t number = 0;
  bool small = false; // see Group
  int seen = 0;       // if small: members that are known to have posted
  Stage stage = Stage::Deferred;
  Status outcome; // once Finished

  const Call &call() const { return transfer.call; }
};

class ThreadsEndpoint final : public Endpoint {
public:
  ThreadsEndpoint(World &world, int rank) : world_(world), rank_(rank) {}
  ~ThreadsEndpoint() override { leave(); }

  Result<std::unique_ptr<Communicator>> communicator(std::vector<int> ranks) override;
  Status wait(Request *request) override;
  bool test(Request *request) override;
  Status health() override { return world_.aborted() ? world_.cause() : Status(); }
  int inFlight() const override { return static_cast<int>(started_.size()); }
  void enter() override;
  void leave() override;
  void abort(const Status &cause) override { world_.abort(cause); }

  Status run(ThreadsCommunicator &communicator, const Call &call);
  Result<Request *> start(ThreadsCommunicator &communicator, const Call &call);

  World &world() { return world_; }
  int rank() const { return rank_; }

private:
  using Clock = std::chrono::steady_clock;

  // Like run(), for calls that are too short to need a request.
  Status runSmall(ThreadsCommunicator &communicator, const Call &call);
  void begin(ThreadsRequest &request);
  // Posts the call. If it returns false, the request stays Deferred.
  bool post(ThreadsRequest &request);
  Status finish(ThreadsRequest &request);
  // Blocks until the request is Finished.
  void waitFor(ThreadsRequest &request);
  // Polls for a short time; true once the request is Finished.
  bool spin(ThreadsRequest &request);
  // Advances one request as far as possible without waiting; true if it advanced.
  bool advance(ThreadsRequest &request);
  bool advanceCollective(ThreadsRequest &request);
  bool advanceAll();
  // Whether a collective in flight has failed because the members' calls differ.
  bool findMismatch();
  // Withdraws the request after an abort; it is Finished afterwards.
  void cancel(ThreadsRequest &request);
  void fail(ThreadsRequest &request, const Status &failure);

  Status abortedStatus(const ThreadsRequest &request);
  Status findMissingPeer(const ThreadsRequest &request);
  Status timeoutStatus(const ThreadsRequest &request);
  std::string place(const ThreadsRequest &request) const;
  std::string whatRankDoes(int rank);
  void setBlockedIn(const Call *call);

  World &world_;
  int rank_;
  std::vector<ThreadsRequest *> pending_; // not Finished
  std::vector<std::unique_ptr<ThreadsRequest>> started_;
  // If other programs use the cores, a thread that yields waits for their time slices, and one that
  // polls in vain loses its own, but a thread that sleeps is woken before them. After a long yield,
  // and after long polls in vain, the next waits poll for a short time and do not yield: each time
  // four times as many of them, until polls help again.
  static constexpr int kEarlySleeps = 256, kMostEarlySleeps = 64 << 10;
  int earlySleeps_ = 0, nextEarlySleeps_ = kEarlySleeps;
};

class ThreadsCommunicator final : public Communicator {
public:
  ThreadsCommunicator(ThreadsEndpoint &endpoint, Group &group, int position)
      : endpoint_(endpoint), group_(group), position_(position) {}

  const std::vector<int> &ranks() const override { return group_.ranks(); }
  int position() const override { return position_; }
  Status run(const Call &call) override { return endpoint_.run(*this, call); }
  Result<Request *> start(const Call &call) override { return endpoint_.start(*this, call); }

  Group &group() { return group_; }

private:
  ThreadsEndpoint &endpoint_;
  Group &group_;
  int position_;
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_ENDPOINT_H
