// lane.h - a communicator of NCCL.
//
// What is made first, the base, is non-blocking: it is made in the background, within the
// deadline, and can be aborted at any time. NCCL starts a thread for each operation of such a
// communicator, so operations go over one that is split from it and blocks; the split is an
// operation of the base. An operation of a communicator that blocks waits for the other members
// where NCCL has to connect them, which the first of its kind does: that one is put on its stream
// aside.

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
  // `ends` takes the end of its communicators.
  NcclLane(gpu::Gpu &gpu, const dl::Nccl &nccl, std::shared_ptr<Endings> ends,
           std::vector<int> ranks, int position);
  ~NcclLane() override;

  bool begun() const override { return base_ || killed_; }
  bool ready() const override { return ready_; }
  // The first member makes the communicator's identity.
  Status identify(gpu::Identity &mine) override;
  Status join(const std::vector<gpu::Identity> &all) override;
  Status health() override;
  bool waitsForMembers() const override { return blocks_; }

  // Operations and memory go here; null until it is ready.
  dl::NcclComm comm() const { return comm_; }
  // Others are split from this.
  dl::NcclComm base() const { return base_; }
  // Begins to make the communicator: all members with the same id.
  Status join(const dl::NcclUniqueId &id);
  // Takes a base that was split from that of `parent`, which outlives this lane's use.
  void adopt(dl::NcclComm base, NcclLane &parent) {
    base_ = base;
    parent_ = &parent;
  }

  // Runs a call of NCCL on this lane that waits for all members; ready() when it is done, and
  // its failure is health()'s. `body` owns what it uses.
  void runAside(std::function<dl::NcclResult()> body, const char *call);
  // Calls are about to come with memory that NCCL knows, or no longer.
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
  // Whether NCCL has all that the operation needs, as there was one like it.
  bool isWarm(const gpu::LaneOp &op);
  Status check(dl::NcclResult result, const char *call) const {
    return dl::ncclStatus(nccl_, result, call, comm_ ? comm_ : base_);
  }

  const dl::Nccl &nccl_;
  const bool blocks_;
  std::shared_ptr<Endings> ends_;
  NcclLane *parent_ = nullptr;
  dl::NcclComm base_ = nullptr, comm_ = nullptr;
  dl::NcclComm made_ = nullptr; // where a split under way puts its communicator
  bool splitting_ = false, ready_ = false;
  std::unique_ptr<Aside> aside_; // then the communicator is its alone
  std::unordered_set<uint64_t> warm_;
  int knownMemory_ = 0; // pieces of it
  Plan plan_;           // of the operation on its way
};

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_LANE_H
