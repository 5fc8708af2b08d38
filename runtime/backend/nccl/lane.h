// lane.h - a communicator of NCCL with a stream of its own, and what is put on it in order.
//
// A group has a lane for its collectives, and each pair of ranks one for each direction of its
// transfers. All members put the same operations on a lane, in the same order.
//
// Nothing here blocks: NCCL's communicators are non-blocking, and poll() moves them on. Belongs
// to the rank's thread; its GPU is current.

#ifndef COLL_RUNTIME_BACKEND_NCCL_LANE_H
#define COLL_RUNTIME_BACKEND_NCCL_LANE_H

#include "runtime/backend/nccl/gpu.h"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace coll::rt::nccl {

// An operation on its way to the GPU.
struct LaneOp {
  enum class Stage { Queued, Issued, OnStream };

  Call call;
  // A call of run() with a stream: it goes there itself, if it can.
  bool onCallersStream = false;
  Stage stage = Stage::Queued;
  // Reached when the GPU is done; null where the caller's stream says so.
  dl::CudaEvent done = nullptr;
  // Filled while it is on its way.
  Plan plan;
  dl::CudaStream stream = nullptr;
};

class Lane {
public:
  // For the member at `position` of `size`.
  Lane(Gpu &gpu, int size, int position) : gpu_(gpu), size_(size), position_(position) {}
  // Ends the communicator; what is on the GPU has to be done or killed.
  ~Lane();
  Lane(const Lane &) = delete;
  Lane &operator=(const Lane &) = delete;

  // A communicator is on its way or there.
  bool begun() const { return comm_ != nullptr || killed_; }
  bool ready() const { return ready_; }
  dl::NcclComm comm() const { return comm_; }
  // Begins to make the communicator: all members with the same id.
  Status join(const dl::NcclUniqueId &id);
  // Takes one that is on its way.
  void adopt(dl::NcclComm comm) { comm_ = comm; }

  // `op` outlives its way to the stream. Members put() the same in the same order.
  void put(LaneOp *op) { queue_.push_back(op); }
  // Takes back what is not on its stream yet.
  void forget(LaneOp *op);
  // Moves on as far as it goes. The first failure of the communicator.
  Status poll();
  // Why the communicator is broken, or ok; for while the GPU works.
  Status health();

  // Ends the communicator at once, whatever is on the GPU.
  void kill();

private:
  Status beginFront();
  Status endFront();
  Status issue(LaneOp &op);
  Status issueSteps(const Call &call, const Plan &plan, dl::CudaStream stream);
  dl::NcclResult issueStep(const Step &step, dl::CudaStream stream);
  Result<char *> scratch(int64_t bytes);
  Status check(dl::NcclResult result, const char *call) const {
    return dl::ncclStatus(gpu_.nccl(), result, call, comm_);
  }

  Gpu &gpu_;
  const int size_, position_;
  dl::NcclComm comm_ = nullptr;
  dl::CudaStream stream_ = nullptr;
  bool ready_ = false, killed_ = false;
  std::deque<LaneOp *> queue_;
  // Growing, so that nothing is freed while the GPU may use it; the last is the one in use.
  std::vector<dl::GpuMemory> scratch_;
};

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_LANE_H
