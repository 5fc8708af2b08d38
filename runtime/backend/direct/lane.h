// lane.h - a group's workspaces, and the kernels that are launched on them.
//
// Threads: see backend/gpu/lane.h. identify() takes the workspace from the node's pool; the
// destructor returns it when the kernels have ended.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_LANE_H
#define COLL_RUNTIME_BACKEND_DIRECT_LANE_H

#include "runtime/backend/direct/node.h"
#include "runtime/backend/direct/platform.h"
#include "runtime/backend/gpu/lane.h"

#include <map>
#include <vector>

namespace coll::rt::direct {

// Memory of all members of a group, at addresses that each of them knows.
struct Symmetric {
  char *data = nullptr;
  int64_t bytes = 0;
  int64_t serial = 0;          // unique within the group
  std::vector<char *> members; // by position, as addresses of this GPU
};

struct LaneOptions {
  int64_t timeoutUs = 60'000'000;
  kernels::WorkspaceSizes sizes = kernels::defaultWorkspaceSizes();
  uint32_t maxBlocks = 0; // see PeerGroup::maxBlocks
};

class DirectLane final : public gpu::Lane {
public:
  DirectLane(gpu::Gpu &gpu, const Platform &platform, Node &node, const LaneOptions &options,
             std::vector<int> ranks, int position)
      : Lane(gpu, std::move(ranks), position), platform_(platform), node_(node), options_(options) {
  }
  ~DirectLane() override;

  bool begun() const override { return joined_ || killed_; }
  bool ready() const override { return joined_; }
  Status identify(gpu::Identity &mine) override;
  Status join(const std::vector<gpu::Identity> &all) override;
  Status health() override;
  bool suspect() const override { return errorWord() != 0; }
  // Allocates the memory that calls in place need, up to `bytes` bytes, now.
  Status reserve(int64_t bytes) { return scratch(bytes).status(); }

  // Returns memory of the group to the node once the calls so far have ended. If graphs have
  // captured calls of the group, which may be replayed, it is returned when the lane ends.
  void leave(Node::Memory memory);
  // Returns memory given to leave() that is not in use any more.
  void reclaim();

  // By address; registrations keep it.
  std::map<const char *, Symmetric> symmetric;
  int64_t nextSerial = 0;
  // Ok, or why a root_update cannot be made here.
  Status takesUpdate(const Call &call) const;
  // The offset of the call's destination in symmetric memory, if kernels use it; -1 otherwise. It
  // has to be the same on all members.
  int64_t placeOf(const Call &call) const;
  // See Communicator.
  std::vector<void *> addressesOf(const void *data, int64_t bytes) const;

protected:
  bool needsOwnStream(const Call &call) const override { return keptBytes(call) > 0; }
  Status issue(gpu::LaneOp &op) override;
  void end() override;

private:
  Status rehearse();
  uint64_t errorWord() const;
  Status launch(const Call &call, dl::CudaStream stream);
  Result<dl::CudaEvent> afterLast();
  Status launchAlone(const Call &call, dl::CudaStream stream);
  Status launchTransfer(const Call &call, dl::CudaStream stream);
  Status launchUpdate(const Call &call, dl::CudaStream stream);
  kernels::ReduceArgs reduceArgs(const Call &call) const;
  kernels::CopyArgs copyArgs(const Call &call) const;
  // The symmetric memory that holds these bytes, or the call's destination; null: none.
  const Symmetric *find(const void *data, int64_t bytes) const;
  const Symmetric *find(const Call &call) const;
  void reachDestinations(const Call &call, void *(&members)[kernels::kMaxPeers]) const;
  // Whether the call is a plain copy, because the group has one member.
  bool isCopy(const Call &call) const;
  uint64_t idOf(dl::CudaStream stream) const;
  Status follow(dl::CudaStream stream, uint64_t id);
  // The bytes of a source that has to be copied first, because the call would overwrite parts that
  // it has not read yet; else 0.
  int64_t keptBytes(const Call &call) const;

  const Platform &platform_;
  Node &node_;
  const LaneOptions options_;
  Node::Slice slice_;
  dl::GpuMemory control_; // PeerControl
  kernels::PeerGroup group_;
  bool identified_ = false, joined_ = false;
  int64_t seenUs_ = 0; // when an error was first seen
  uint64_t last_ = 0;  // idOf() the stream of the last call
  Call lastCall_;      // the parts of it that the lane owns: no buffers, no texts
  dl::CudaEvent lastDone_ = nullptr;
  struct Left {
    Node::Memory memory;
    dl::CudaEvent after = nullptr; // the end of the calls that use it; null: not known
  };
  std::vector<Left> left_;
  bool captured_ = false; // a graph has captured a call
};

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_LANE_H
