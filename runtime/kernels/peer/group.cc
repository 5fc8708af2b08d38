#include "runtime/kernels/peer/group.h"

#include "runtime/kernels/peer/state.h"
#include "runtime/kernels/peer/tuning.h"

#include <string>
#include <tuple>

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint64_t kAlignment = 512;

constexpr uint64_t roundUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

bool isNoWorkspace(const char *workspace) {
  return !workspace || reinterpret_cast<uintptr_t>(workspace) % kAlignment != 0;
}

auto fields(const WorkspaceLayout &l) {
  return std::make_tuple(l.state, l.packets, l.packetBytes, l.escapes, l.rings, l.slotBytes,
                         l.slots, l.ringBlocks, l.bytes);
}

} // namespace

WorkspaceSizes defaultWorkspaceSizes() { return {kPacketArea, kRingBlocks, kRingBytes, kSlots}; }

WorkspaceLayout workspaceLayout(uint32_t size, const WorkspaceSizes &sizes) {
  WorkspaceLayout layout = {};
  layout.state = 0;
  layout.packets = roundUp(sizeof(PeerState));
  layout.packetBytes = sizes.packetArea / size / kAlignment * kAlignment;
  layout.escapes = layout.packets + 2 * size * layout.packetBytes;
  const uint64_t escapeBytes = layout.packetBytes / 16 * sizeof(uint32_t);
  layout.rings = roundUp(layout.escapes + 2 * size * escapeBytes);
  layout.slotBytes = sizes.ringBytes / sizes.slots / size / kAlignment * kAlignment;
  layout.slots = sizes.slots;
  layout.ringBlocks = sizes.ringBlocks;
  layout.bytes =
      layout.rings + kRingLanes * sizes.ringBlocks * size * sizes.slots * layout.slotBytes;
  return layout;
}

Status checkPeerGroup(const PeerGroup &group) {
  if (group.size == 0 || group.size > kMaxPeers || group.rank >= group.size)
    return Status::invalid("member " + std::to_string(group.rank) + " of a peer group of " +
                           std::to_string(group.size) + "; it has 1 to " +
                           std::to_string(kMaxPeers) + " members");
  for (uint32_t i = 0; i < group.size; ++i)
    if (isNoWorkspace(group.workspace[i]))
      return Status::invalid("a peer group in which the workspace of member " + std::to_string(i) +
                             " is null or not aligned to " + std::to_string(kAlignment));
  if (!group.control || group.timeoutNs == 0)
    return Status::invalid("a peer group without control words or timeout");
  const WorkspaceLayout &layout = group.layout;
  const WorkspaceSizes sizes = {layout.packetBytes * group.size, layout.ringBlocks,
                                layout.slotBytes * layout.slots * group.size, layout.slots};
  if (layout.slots < 2 || layout.slotBytes == 0 || layout.ringBlocks == 0 ||
      layout.ringBlocks > kRingBlocks ||
      fields(layout) != fields(workspaceLayout(group.size, sizes)))
    return Status::invalid("a peer group with an invalid workspace layout");
  return Status::okay();
}

} // namespace coll::kernels
