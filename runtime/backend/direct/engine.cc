#include "runtime/backend/direct/engine.h"

#include "runtime/backend/direct/types.h"
#include "runtime/backend/gpu/agreement.h"

#include <algorithm>

namespace coll::rt::direct {

namespace {

// Scratch memory for calls in place that is reserved at the start for the group of all ranks:
// enough for a small call.
constexpr int64_t kKeptBytes = 512 << 10;

// A member's message to the others about memory that the group will use.
struct Card {
  gpu::MemoryCard memory;
  SliceId id;
  int32_t isPooled = 0;
};

// Memory that all members of a group know while it exists.
class SymmetricMemory final : public Registration {
public:
  SymmetricMemory(std::weak_ptr<const void> engine, DirectLane &lane, Node::Memory memory)
      : engine_(std::move(engine)), lane_(lane), memory_(std::move(memory)) {}
  ~SymmetricMemory() override {
    if (engine_.expired())
      return; // the job has ended: no peer reaches the memory any more
    const auto known = lane_.symmetric.find(memory_.data());
    if (known != lane_.symmetric.end() && known->second.serial == serial_)
      lane_.symmetric.erase(known);
    lane_.leave(std::move(memory_));
  }
  // From now on calls may use it.
  void announce(std::vector<char *> members) {
    serial_ = lane_.nextSerial++;
    char *data = memory_.data();
    lane_.symmetric[data] = {data, memory_.bytes, serial_, std::move(members)};
  }
  void *data() const override { return memory_.data(); }
  std::string kind() const override {
    return std::string(memory_.isUsers ? "user buffer by " : "symmetric memory by ") +
           nameOf(memory_.id().chunk.sharing);
  }

private:
  const std::weak_ptr<const void> engine_; // expires with the lane
  DirectLane &lane_;
  Node::Memory memory_;
  int64_t serial_ = -1;
};

} // namespace

Status DirectEngine::identifyWorld(gpu::Gpu &gpu, std::vector<int> ranks, int position,
                                   gpu::Identity &mine) {
  world_ =
      std::make_unique<DirectLane>(gpu, platform_, *node_, options_, std::move(ranks), position);
  return world_->identify(mine);
}

Status DirectEngine::joinWorld(const std::vector<gpu::Identity> &all) {
  COLL_RETURN_IF_ERROR(world_->join(all));
  return world_->reserve(kKeptBytes);
}

Status DirectEngine::supports(const Call &call) const { return direct::supports(call); }

Status DirectEngine::takes(const gpu::Lane &lane, const Call &call) const {
  return call.kind == OpKind::RootUpdate ? static_cast<const DirectLane &>(lane).takesUpdate(call)
                                         : Status();
}

std::unique_ptr<gpu::Lane> DirectEngine::makeLane(gpu::Gpu &gpu, std::vector<int> ranks,
                                                  int position) {
  if (world_ && world_->ranks() == ranks)
    return std::move(world_);
  return std::make_unique<DirectLane>(gpu, platform_, *node_, options_, std::move(ranks), position);
}

int64_t DirectEngine::placeOf(const gpu::Lane &lane, const Call &call) const {
  return static_cast<const DirectLane &>(lane).placeOf(call);
}

std::vector<void *> DirectEngine::addressesOf(const gpu::Lane &lane, const void *data,
                                              int64_t bytes) const {
  return static_cast<const DirectLane &>(lane).addressesOf(data, bytes);
}

void DirectEngine::abort(const Status &cause) {
  const bool isNew = node_->alarm().cause().ok();
  node_->alarm().raise(cause);
  if (isNew && node_->links())
    node_->links()->tellFailure(cause);
}

Result<std::unique_ptr<Registration>> DirectEngine::registerMemory(gpu::GpuEndpoint &endpoint,
                                                                   gpu::Group &group, void *data,
                                                                   int64_t bytes) {
  gpu::Gpu::Scope scope(endpoint.gpu());
  Status checked = endpoint.gpu().check(data, "buffer");
  if (checked.ok() && bytes < 1)
    checked = Status::invalid("a buffer of " + std::to_string(bytes) + " bytes is not registered");
  Result<Node::Memory> memory = checked;
  if (checked.ok()) {
    Result<Block> block = Block::of(node_->gpu(), node_->sharing(), data, bytes);
    memory = block.status();
    if (block)
      memory = Node::Memory{bytes, std::nullopt, block.take(), /*isUsers=*/true, {}};
  }
  return introduce(endpoint, group, std::move(memory));
}

Result<std::unique_ptr<Registration>> DirectEngine::allocate(gpu::GpuEndpoint &endpoint,
                                                             gpu::Group &group, int64_t bytes) {
  gpu::Gpu::Scope scope(endpoint.gpu());
  static_cast<DirectLane &>(*group.lane).reclaim();
  Result<Node::Memory> memory =
      bytes < 0 ? Result<Node::Memory>(
                      Status::invalid("a buffer cannot have " + std::to_string(bytes) + " bytes"))
                : node_->takeMemory(std::max<int64_t>(bytes, 1), group.ranks);
  return introduce(endpoint, group, std::move(memory));
}

// All members meet twice: with the memory that they have, and with the result of opening the other
// members' memory.
Result<std::unique_ptr<Registration>>
DirectEngine::introduce(gpu::GpuEndpoint &endpoint, gpu::Group &group, Result<Node::Memory> own) {
  auto giveUp = [&](const Status &why) {
    if (own)
      node_->giveMemory(own.take());
    return why;
  };
  if (Status health = endpoint.health(); !health.ok())
    return giveUp(health);
  Card mine;
  mine.memory.verdict = gpu::verdictOf(own ? Status() : own.status());
  if (own) {
    mine.memory.bytes = own->bytes;
    mine.id = own->id();
    mine.isPooled = own->slice.has_value();
  }
  Result<std::vector<Card>> cards = gpu::gather(endpoint, group, mine);
  if (!cards)
    return giveUp(cards.status());
  std::vector<gpu::MemoryCard> made;
  for (const Card &card : *cards)
    made.push_back(card.memory);
  const Status agreed = gpu::compareMemory(made, group);
  Status opened = agreed;
  std::vector<char *> members(cards->size());
  for (size_t i = 0; i < cards->size(); ++i) {
    const Card &card = (*cards)[i];
    const int rank = group.ranks[i];
    if (static_cast<int>(i) == group.position) {
      members[i] = own ? own->data() : nullptr;
    } else if (opened.ok() && card.isPooled) {
      Result<char *> reached = node_->reach(rank, card.id, card.memory.bytes);
      opened = reached.status();
      members[i] = reached ? *reached : nullptr;
    } else if (opened.ok()) {
      Result<Window> window = node_->open(rank, card.id.chunk);
      opened = window.status();
      if (window) {
        members[i] = window->data();
        own->windows.push_back(window.take());
      }
    } else if (card.memory.verdict.code == kCollOk && !card.isPooled) {
      node_->decline(rank, card.id.chunk);
    }
  }
  if (!agreed.ok())
    return giveUp(agreed);
  // Also on failure, because peers may have opened it.
  auto memory =
      std::make_unique<SymmetricMemory>(life(), static_cast<DirectLane &>(*group.lane), own.take());
  Result<std::vector<gpu::Verdict>> verdicts = gpu::gather(endpoint, group, gpu::verdictOf(opened));
  if (!verdicts)
    return verdicts.status();
  COLL_RETURN_IF_ERROR(opened);
  COLL_RETURN_IF_ERROR(gpu::outcomeOf(*verdicts, group.ranks));
  memory->announce(std::move(members));
  return std::unique_ptr<Registration>(std::move(memory));
}

} // namespace coll::rt::direct
