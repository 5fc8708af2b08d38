#include "runtime/kernels/root_update/tuning.h"

#include "runtime/base/dtype.h"

#include <algorithm>

namespace coll::kernels::root_update {
namespace {

uint64_t ceilDiv(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint64_t roundUp(uint64_t elems) { return ceilDiv(elems, kUpdateGrain) * kUpdateGrain; }

// A hash of the values that all members have to agree on.
uint32_t hashOf(const RootUpdate &update, uint32_t ranks, uint32_t optimizer) {
  uint32_t hash = optimizer;
  const auto add = [&](uint64_t value) { mix(hash, value); };
  for (uint32_t r = 0; r < ranks; ++r) {
    add(update.table.elems[r]);
    add(update.table.first[r + 1]);
  }
  add(static_cast<uint64_t>(update.gradientType));
  add(static_cast<uint64_t>(update.parameterType));
  add(update.mean);
  add(update.blocks);
  add(update.threads);
  add(update.chunkElems);
  return hash;
}

// A call that sets its chunks uses rings; a group of one sends nothing.
bool fitsPackets(const PeerGroup &group, const RootUpdate &call, uint64_t longest) {
  const auto gradientBytes = static_cast<uint64_t>(rt::dtypeSize(call.gradientType)),
             parameterBytes = static_cast<uint64_t>(rt::dtypeSize(call.parameterType));
  const uint64_t part = roundUp(longest) * std::max(gradientBytes, parameterBytes);
  return call.chunkElems == 0 && group.size > 1 &&
         longest * gradientBytes * group.size <= kUpdatePacketBytes &&
         part <= group.layout.packetBytes / 2;
}

// `useful`: number of blocks that have something to do.
uint32_t chooseBlocks(const PeerGroup &group, uint64_t useful, uint32_t processors, bool packets) {
  if (group.size == 1)
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(useful, 1, std::min(processors * kAloneBlocks, kPeerMaxBlocks)));
  // One of these blocks needs the room of two of the other kernels' blocks.
  const uint32_t resident = group.maxBlocks != 0 ? std::max(1u, group.maxBlocks / 2) : processors;
  const uint64_t most = std::min({processors, group.layout.ringBlocks, resident});
  // With packets, one more block exchanges tokens with the peers.
  return static_cast<uint32_t>(std::clamp<uint64_t>(useful + (packets ? 1 : 0), 1, most));
}

} // namespace

Arguments arrange(const PeerGroup &group, const RootUpdate &update, uint32_t processors,
                  uint32_t optimizer) {
  Arguments args = {group, update, false, kUpdateGrain, 1, 0};
  const RootTable &table = update.table;
  const uint64_t longest = *std::max_element(table.elems, table.elems + group.size);
  RootUpdate &call = args.update;
  if (call.threads == 0)
    call.threads = kUpdateThreads;
  if (group.size == 1)
    call.threads = std::min(call.threads, kAloneThreads);
  const uint64_t elemBytes = static_cast<uint64_t>(rt::dtypeSize(call.gradientType));
  const uint64_t unit =
      16 / std::min(elemBytes, static_cast<uint64_t>(rt::dtypeSize(call.parameterType)));
  args.packets = fitsPackets(group, call, longest);
  if (call.blocks == 0)
    call.blocks =
        chooseBlocks(group, ceilDiv(longest, call.threads * unit), processors, args.packets);
  const uint64_t slotElems = group.layout.slotBytes / elemBytes;
  const uint64_t share = roundUp(ceilDiv(longest, call.blocks));
  if (longest != 0) {
    const uint64_t asked = call.chunkElems / kUpdateGrain * kUpdateGrain;
    args.blockElems = static_cast<uint32_t>(std::min({share, slotElems, asked ? asked : share}));
    args.chunks = static_cast<uint32_t>(ceilDiv(longest, uint64_t{call.blocks} * args.blockElems));
  }
  call.chunkElems = args.blockElems;
  args.call = hashOf(call, group.size, optimizer);
  return args;
}

} // namespace coll::kernels::root_update
