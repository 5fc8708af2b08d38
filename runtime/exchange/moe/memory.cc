#include "runtime/exchange/moe/memory.h"

#include "runtime/base/boot_id.h"
#include "runtime/exchange/moe/routes.h"

#include <cstring>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace coll::rt {

namespace {

Status refuse(size_t rank, const std::string &why) {
  return Status::invalid("moe: the card of rank " + std::to_string(rank) + " " + why);
}

int membersOf(const MoeCard &card) {
  return MoeWorld{card.rank, card.numRanks, card.nodeSize}.members();
}

// Checks what has to be equal on all ranks.
Status checkSizes(const MoeCard &own, const MoeCard &card) {
  const MoeLowLatencyShape &here = own.lowLatencyShape, &there = card.lowLatencyShape;
  const struct {
    const char *what;
    int64_t here, there;
  } sizes[] = {{"numRanks", own.numRanks, card.numRanks},
               {"nodeSize", own.nodeSize, card.nodeSize},
               {"nvlBytes", own.nvlBytes, card.nvlBytes},
               {"netBytes", own.netBytes, card.netBytes},
               {"netChunkBytes", own.netChunkBytes, card.netChunkBytes},
               {"lowLatency", own.lowLatency, card.lowLatency},
               {"maxTokens of the low-latency mode", here.maxTokens, there.maxTokens},
               {"hidden of the low-latency mode", here.hidden, there.hidden},
               {"numTopk of the low-latency mode", here.numTopk, there.numTopk},
               {"numExperts of the low-latency mode", here.numExperts, there.numExperts}};
  for (const auto &size : sizes)
    if (size.here != size.there)
      return {kCollMismatch, std::string("moe: ") + size.what + " is " +
                                 std::to_string(size.there) + " on rank " +
                                 std::to_string(card.rank) + ", and " + std::to_string(size.here) +
                                 " on rank " + std::to_string(own.rank)};
  return Status::okay();
}

Status checkCard(const MoeCard &own, const MoeCard &card, size_t rank) {
  if (card.magic != MoeCard::kMagic)
    return refuse(rank, "is invalid, or of another version");
  if (card.rank != static_cast<int32_t>(rank))
    return refuse(rank, "is that of rank " + std::to_string(card.rank));
  COLL_RETURN_IF_ERROR(checkSizes(own, card));
  // A node with fewer ranks has smaller workspaces.
  if (membersOf(card) == membersOf(own) && card.memory.bytes != own.memory.bytes)
    return refuse(rank, "is of a buffer with a workspace of another size");
  if (card.rank / card.nodeSize == own.rank / own.nodeSize &&
      std::memcmp(card.boot, own.boot, sizeof own.boot) != 0)
    return refuse(rank, "is from another node");
  if (card.rank == own.rank && (!areOfOneProcess(card, own) || card.device != own.device ||
                                card.memory.address != own.memory.address))
    return refuse(rank, "is not that of this buffer");
  return Status::okay();
}

} // namespace

bool areOfOneProcess(const MoeCard &a, const MoeCard &b) {
  return std::memcmp(a.boot, b.boot, sizeof a.boot) == 0 && a.processes == b.processes &&
         a.process == b.process;
}

Result<std::unique_ptr<MoeMemory>> MoeMemory::create(std::shared_ptr<dl::GpuContext> gpu,
                                                     int64_t bytes, MoeCard &card) {
  std::unique_ptr<MoeMemory> memory(new MoeMemory(gpu));
  Result<gpu::Block> block = gpu::Block::create(gpu, gpu::Sharing::Ipc, bytes, /*id=*/0);
  if (!block)
    return block.status();
  memory->block_ = block.take();
  card.memory = memory->block_.exported();
  card.device = gpu->ordinal();
  card.process = static_cast<int32_t>(getpid());
  struct stat space = {};
  if (stat("/proc/self/ns/pid", &space) == 0)
    card.processes = space.st_ino;
  bootId().copy(card.boot, sizeof card.boot - 1);
  return memory;
}

Result<std::vector<char *>> MoeMemory::open(const MoeCard &own, const std::vector<MoeCard> &cards) {
  dl::CudaScope scope(gpu_->cuda(), gpu_->context());
  COLL_RETURN_IF_ERROR(scope.status());
  if (cards.size() != static_cast<size_t>(own.numRanks))
    return Status::invalid("moe: " + std::to_string(cards.size()) + " cards of " +
                           std::to_string(own.numRanks) + " ranks");
  std::vector<char *> all;
  for (size_t r = 0; r < cards.size(); ++r) {
    COLL_RETURN_IF_ERROR(checkCard(own, cards[r], r));
    if (cards[r].rank / own.nodeSize != own.rank / own.nodeSize)
      continue;
    Result<char *> data = openOne(own, cards[r]);
    if (!data)
      return data.status().annotate("moe: the memory of rank " + std::to_string(r));
    all.push_back(*data);
  }
  return all;
}

Result<char *> MoeMemory::openOne(const MoeCard &own, const MoeCard &card) {
  if (card.rank == own.rank)
    return data();
  gpu::Export memory = card.memory;
  memory.sharing = gpu::Sharing::Ipc;
  // A process cannot open its own handles.
  if (areOfOneProcess(card, own)) {
    memory.sharing = gpu::Sharing::Process;
    COLL_RETURN_IF_ERROR(gpu::reach(*gpu_, card.device));
  }
  Result<gpu::Window> window = gpu::Window::open(gpu_, memory, Fd());
  if (!window)
    return window.status();
  windows_.push_back(window.take());
  return windows_.back().data();
}

} // namespace coll::rt
