// lane.h - members of a group that an engine has connected, their stream, and the operations that
// are put on it in order.
//
// A group has a lane for its collectives, and each pair of ranks one for each direction of its
// transfers. All members put the same operations on a lane, in the same order.
//
// Nothing here blocks: poll() advances operations. Belongs to the rank's thread; its GPU is
// current.

#ifndef COLL_RUNTIME_BACKEND_GPU_LANE_H
#define COLL_RUNTIME_BACKEND_GPU_LANE_H

#include "runtime/backend/gpu/card.h"
#include "runtime/gpu/gpu.h"

#include <deque>
#include <vector>

namespace coll::rt::gpu {

// An operation on its way to the GPU.
struct LaneOp {
  enum class Stage { Queued, Issued, OnStream };

  Call call;
  // A call of run() with a stream: it is put on that stream itself, if possible.
  bool onCallersStream = false;
  bool isHeld = false; // must not begin, because the members have not agreed on it
  Stage stage = Stage::Queued;
  // Marks the caller's stream at the time the call was started. The call waits only for the work
  // before that, because later work may wait for the call on other ranks. Null once the order is
  // set up.
  dl::CudaEvent after = nullptr;
  // Reached when the GPU is done; null if the caller's stream reports that.
  dl::CudaEvent done = nullptr;
  dl::CudaStream stream = nullptr; // the stream that it is on, or will be
};

class Lane {
public:
  // For the member at `position` of these ranks.
  Lane(Gpu &gpu, std::vector<int> ranks, int position)
      : gpu_(gpu), ranks_(std::move(ranks)), position_(position) {}
  // The work on the GPU must have ended, or been killed, before.
  virtual ~Lane();
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;

  // Whether the connection is being made, or exists.
  virtual bool begun() const = 0;
  virtual bool ready() const = 0;
  // Sets what the other members need to know about this one.
  virtual Status identify(Identity &mine) = 0;
  // Starts to connect; all[i] is from member i.
  virtual Status join(const std::vector<Identity> &all) = 0;
  // Ok, or why the connection is broken; called while the GPU works.
  virtual Status health() = 0;
  // Something has failed on the GPU, and health() will soon report it. Until then no operation on
  // the GPU counts as complete.
  virtual bool suspect() const { return false; }
  // Whether putting the first operation of a kind on its stream waits for the other members, even
  // beyond the deadline. If so, the operation should be held until they agree.
  virtual bool waitsForMembers() const { return false; }
  // Ends the connection at once, even if work is on the GPU.
  void kill();

  // `op` lives until it is on the stream. Members put() the same operations in the same order.
  void put(LaneOp *op) { queue_.push_back(op); }
  // Removes an operation that is not on its stream yet.
  void forget(LaneOp *op);
  // Advances as far as possible. Returns the first failure of the connection.
  Status poll();

  int size() const { return static_cast<int>(ranks_.size()); }
  const std::vector<int> &ranks() const { return ranks_; }

protected:
  // Whether the call cannot use the caller's stream itself because it needs scratch().
  virtual bool needsOwnStream(const Call &) const { return false; }
  // The lane's own stream, created if there is none.
  Result<dl::CudaStream> stream();
  // Memory that is used in the order of the lane's own stream, and by graphs as long as the lane
  // lives.
  Result<char *> scratch(int64_t bytes);
  // Puts the operation on op.stream. finish() puts the rest there, once the lane is ready()
  // again.
  virtual Status issue(LaneOp &op) = 0;
  virtual Status finish(LaneOp &) { return {}; }
  // Ends the connection: afterwards nothing waits or moves any more. Called once.
  virtual void end() = 0;

  Gpu &gpu_;
  const std::vector<int> ranks_;
  const int position_;
  bool killed_ = false;

private:
  Status beginFront();
  Status endFront();

  dl::CudaStream stream_ = nullptr;
  std::deque<LaneOp *> queue_;
  // It only grows, so that nothing is freed while the GPU may use it; the last buffer is in use.
  std::vector<dl::GpuMemory> scratch_;
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_LANE_H
