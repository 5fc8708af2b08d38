// lane.h - a communicator of NCCL.
//
// The base is created first and is non-blocking: it is created in the background, within the
// deadline, and can be aborted at any time. NCCL starts a thread for each operation of such a
// communicator, so operations use another communicator, which is split from the base and blocks;
// the split is an operation of the base. An operation of a blocking communicator waits for the
// other members if NCCL has to connect them, as the first operation of each kind does: `aside`
// issues that one.

#ifndef COLL_RUNTIME_BACKEND_NCCL_LANE_H
#define COLL_RUNTIME_BACKEND_NCCL_LANE_H

#include "runtime/backend/gpu/lane.h"
#include "runtime/backend/nccl/aside.h"
#include "runtime/backend/nccl/plan.h"
#include "runtime/dl/nccl.h"

#include <unordered_set>

namespace coll::rt::nccl {

class NcclLane final : public gpu::Lane {
public:
  // `ends` destroys its communicators.
  NcclLane(gpu::Gpu &gpu, const dl::Nccl &nccl, std::shared_ptr<Endings> ends,
           std::vector<int> ranks, int position);
  ~NcclLane() override;

  bool begun() const override { return base_ || killed_; }
  bool ready() const override { return ready_; }
  // The first member creates the communicator's identity.
  Status identify(gpu::Identity &mine) override;
  Status join(const std::vector<gpu::Identity> &all) override;
  Status health() override;
  bool waitsForMembers() const override { return blocks_; }

  // For operations and memory; null until it is ready.
  dl::NcclComm comm() const { return comm_; }
  // The communicator from which others are split.
  dl::NcclComm base() const { return base_; }
  // Starts to create the communicator: all members with the same id.
  Status join(const dl::NcclUniqueId &id);
  // Adopts a base that was split from that of `parent`, which outlives this lane's use.
  void adopt(dl::NcclComm base, NcclLane &parent) {
    base_ = base;
    parent_ = &parent;
  }

  // Runs a call of NCCL on this lane that waits for all members. ready() is true when it is done;
  // health() reports its failure. `body` owns what it uses.
  void runAside(std::function<dl::NcclResult()> body, const char *call);
  // From now on calls will use memory that NCCL knows, or will not use it any more.
  void memoryChanges(bool isKnown);

protected:
  bool needsOwnStream(const Call &call) const override;
  Status issue(gpu::LaneOp &op) override;
  Status finish(gpu::LaneOp &op) override;
  void end() override;

private:
  Plan plan(const Call &call, char *scratch) const {
    return planOf(call, size(), position_, scratch, nccl_.allToAll != nullptr);
  }
  Status split();
  Status endAside();
  // Whether NCCL has everything that the operation needs, because an earlier one was like it.
  bool isWarm(const gpu::LaneOp &op);
  Status check(dl::NcclResult result, const char *call) const {
    return dl::ncclStatus(nccl_, result, call, comm_ ? comm_ : base_);
  }

  const dl::Nccl &nccl_;
  const bool blocks_;
  std::shared_ptr<Endings> ends_;
  NcclLane *parent_ = nullptr;
  dl::NcclComm base_ = nullptr, comm_ = nullptr;
  dl::NcclComm made_ = nullptr; // receives the communicator of a split in progress
  bool splitting_ = false, ready_ = false;
  Aside aside_;
  bool isAside_ = false; // a call is in aside_, running or done, and owns the communicator
  std::unordered_set<uint64_t> warm_;
  int knownMemory_ = 0; // number of registrations
  Plan plan_;           // of the operation that is being issued
};

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_LANE_H
