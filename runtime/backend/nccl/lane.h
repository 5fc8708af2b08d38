// lane.h - a communicator of NCCL.
//
// NCCL's communicators are non-blocking: they are made, and take operations, in the background.

#ifndef COLL_RUNTIME_BACKEND_NCCL_LANE_H
#define COLL_RUNTIME_BACKEND_NCCL_LANE_H

#include "runtime/backend/nccl/plan.h"
#include "runtime/dl/nccl.h"
#include "runtime/gpu/lane.h"

namespace coll::rt::nccl {

class NcclLane final : public gpu::Lane {
public:
  NcclLane(gpu::Gpu &gpu, const dl::Nccl &nccl, std::vector<int> ranks, int position)
      : Lane(gpu, std::move(ranks), position), nccl_(nccl) {}
  ~NcclLane() override;

  bool begun() const override { return comm_ != nullptr || killed_; }
  bool ready() const override { return ready_; }
  // The first member makes the communicator's identity.
  Status identify(gpu::Identity &mine) override;
  Status join(const std::vector<gpu::Identity> &all) override;
  Status health() override;

  dl::NcclComm comm() const { return comm_; }
  // Begins to make the communicator: all members with the same id.
  Status join(const dl::NcclUniqueId &id);
  // Takes one that is on its way.
  void adopt(dl::NcclComm comm) { comm_ = comm; }

protected:
  bool needsOwnStream(const Call &call) const override;
  Status issue(gpu::LaneOp &op) override;
  Status finish(gpu::LaneOp &op) override;
  void end() override;

private:
  Plan plan(const Call &call, char *scratch) const {
    return planOf(call, size(), position_, scratch, nccl_.allToAll != nullptr);
  }
  Status issueSteps(const Call &call, dl::CudaStream stream);
  Status issueScaled(const Call &call, dl::CudaStream stream);
  dl::NcclResult issueStep(const Step &step, dl::CudaStream stream);
  Status check(dl::NcclResult result, const char *call) const {
    return dl::ncclStatus(nccl_, result, call, comm_);
  }

  const dl::Nccl &nccl_;
  dl::NcclComm comm_ = nullptr;
  bool ready_ = false;
  Plan plan_; // of the operation on its way
};

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_LANE_H
