// lane.h - members of a group connected by an engine, with a stream, and what is put on it in
// order.
//
// A group has a lane for its collectives, and each pair of ranks one for each direction of its
// transfers. All members put the same operations on a lane, in the same order.
//
// Nothing here blocks: poll() moves things on. Belongs to the rank's thread; its GPU is current.

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
  // A call of run() with a stream: it goes there itself, if it can.
  bool onCallersStream = false;
  bool isHeld = false; // not to begin, as the members have not agreed on it
  Stage stage = Stage::Queued;
  // Where the caller's stream was when the call was started: it waits for no more than that, since
  // what comes later may wait for it on other ranks. Null once that is ordered.
  dl::CudaEvent after = nullptr;
  // Reached when the GPU is done; null where the caller's stream says so.
  dl::CudaEvent done = nullptr;
  dl::CudaStream stream = nullptr; // where it is, or will be
};

class Lane {
public:
  // For the member at `position` of these ranks.
  Lane(Gpu &gpu, std::vector<int> ranks, int position)
      : gpu_(gpu), ranks_(std::move(ranks)), position_(position) {}
  // What is on the GPU has to be done or killed.
  virtual ~Lane();
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;

  // The connection is on its way or there.
  virtual bool begun() const = 0;
  virtual bool ready() const = 0;
  // Sets what the others need of this member, if they need anything.
  virtual Status identify(Identity &mine) = 0;
  // Begins to connect; all[i] is from member i.
  virtual Status join(const std::vector<Identity> &all) = 0;
  // Why the connection is broken, or ok; for while the GPU works.
  virtual Status health() = 0;
  // Something has failed on the GPU, and health() is about to say what: nothing that the GPU
  // has done counts as complete any more.
  virtual bool suspect() const { return false; }
  // Whether an operation that is the first of its kind waits for the other members, beyond the
  // deadline, while it is put on its stream: then it should be held until they agree.
  virtual bool waitsForMembers() const { return false; }
  // Ends the connection at once, whatever is on the GPU.
  void kill();

  // `op` outlives its way to the stream. Members put() the same in the same order.
  void put(LaneOp *op) { queue_.push_back(op); }
  // Takes back what is not on its stream yet.
  void forget(LaneOp *op);
  // Moves on as far as it goes. The first failure of the connection.
  Status poll();

  int size() const { return static_cast<int>(ranks_.size()); }
  const std::vector<int> &ranks() const { return ranks_; }

protected:
  // Whether the call cannot go on the caller's stream itself: it needs scratch().
  virtual bool needsOwnStream(const Call &) const { return false; }
  // The lane's own, made where there is none.
  Result<dl::CudaStream> stream();
  // Memory that is used in the order of the lane's own stream, and by graphs as long as the lane
  // lives.
  Result<char *> scratch(int64_t bytes);
  // Puts the operation on op.stream; what it still needs is put there by finish(), once
  // the lane is ready() again.
  virtual Status issue(LaneOp &op) = 0;
  virtual Status finish(LaneOp &) { return {}; }
  // After this nothing waits or moves any more; once only.
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
  // Growing, so that nothing is freed while the GPU may use it; the last is the one in use.
  std::vector<dl::GpuMemory> scratch_;
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_LANE_H
