#include "runtime/backend/direct/engine.h"

#include "runtime/backend/direct/types.h"
#include "runtime/base/dtype.h"
#include "runtime/call_check.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::direct {

namespace {

// What a member tells of memory that the group is to know.
struct MemoryCard {
  Verdict verdict;
  Export exported;
  int64_t bytes = 0;
};

// Every member's, by position.
template <typename T>
Result<std::vector<T>> gather(gpu::Group &group, const T &mine) {
  std::vector<T> all(static_cast<size_t>(group.size()));
  Call call;
  call.kind = OpKind::AllGather;
  call.dtype = kCollI8;
  call.count = sizeof(T);
  call.src = &mine;
  call.dst = all.data();
  call.site.name = "memory of a group";
  COLL_RETURN_IF_ERROR(group.control->run(call));
  return all;
}

template <typename T>
std::vector<Verdict> verdictsOf(const std::vector<T> &cards) {
  std::vector<Verdict> verdicts;
  for (const T &card : cards)
    verdicts.push_back(card.verdict);
  return verdicts;
}

// Memory that all members of a group know, as long as it lives.
class SymmetricMemory final : public Registration {
public:
  SymmetricMemory(Node &node, DirectLane &lane, Block block, std::vector<Window> windows,
                  bool isUsers)
      : node_(node), lane_(lane), block_(std::move(block)), windows_(std::move(windows)),
        isUsers_(isUsers) {}
  ~SymmetricMemory() override {
    lane_.symmetric.erase(block_.data());
    // CUDA IPC wants it to outlive the peers' windows, and peer access their calls.
    if (!isUsers_ && block_.exported().sharing != Sharing::Vmm)
      node_.retire(std::move(block_));
  }
  void *data() const override { return block_.data(); }
  std::string kind() const override {
    return std::string(isUsers_ ? "user buffer by " : "symmetric memory by ") +
           nameOf(block_.exported().sharing);
  }

private:
  Node &node_;
  DirectLane &lane_;
  Block block_;
  std::vector<Window> windows_; // by position; the own one is empty
  const bool isUsers_;
};

} // namespace

Status DirectEngine::supports(const Call &call) const { return direct::supports(call); }

std::unique_ptr<gpu::Lane> DirectEngine::makeLane(gpu::Gpu &gpu, std::vector<int> ranks,
                                                  int position) {
  return std::make_unique<DirectLane>(gpu, platform_, *node_, options_, std::move(ranks), position);
}

int64_t DirectEngine::placeOf(const gpu::Lane &lane, const Call &call) const {
  return static_cast<const DirectLane &>(lane).placeOf(call);
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
  return introduce(endpoint, group,
                   checked.ok() ? Block::of(node_->gpu(), node_->sharing(), data, bytes)
                                : Result<Block>(checked),
                   /*isUsers=*/true);
}

Result<std::unique_ptr<Registration>> DirectEngine::allocate(gpu::GpuEndpoint &endpoint,
                                                             gpu::Group &group, int64_t bytes) {
  gpu::Gpu::Scope scope(endpoint.gpu());
  Result<Block> block =
      bytes < 0
          ? Result<Block>(Status::invalid("no buffer has " + std::to_string(bytes) + " bytes"))
          : node_->makeBlock(std::max<int64_t>(bytes, 1), group.ranks);
  return introduce(endpoint, group, std::move(block), /*isUsers=*/false);
}

// All members meet twice: with what they have, and with what they have made of it.
Result<std::unique_ptr<Registration>> DirectEngine::introduce(gpu::GpuEndpoint &endpoint,
                                                              gpu::Group &group,
                                                              Result<Block> block, bool isUsers) {
  COLL_RETURN_IF_ERROR(endpoint.health());
  MemoryCard mine;
  mine.verdict = verdictOf(block ? Status() : block.status());
  if (block) {
    mine.exported = block->exported();
    mine.bytes = block->bytes();
  }
  Result<std::vector<MemoryCard>> cards = gather(group, mine);
  if (!cards)
    return cards.status();
  COLL_RETURN_IF_ERROR(outcomeOf(verdictsOf(*cards), group.ranks));
  Symmetric memory;
  memory.data = block->data();
  memory.bytes = block->bytes();
  std::vector<Window> windows(cards->size());
  Status opened;
  for (size_t i = 0; i < cards->size() && opened.ok(); ++i) {
    if ((*cards)[i].bytes != mine.bytes) {
      opened = {kCollMismatch, "sizes of symmetric memory differ in group " +
                                   describeGroup(group.ranks) + ": " + std::to_string(mine.bytes) +
                                   " bytes, and " + std::to_string((*cards)[i].bytes) +
                                   " on rank " + std::to_string(group.ranks[i])};
      break;
    }
    if (static_cast<int>(i) == group.position) {
      memory.members.push_back(memory.data);
      continue;
    }
    Result<Window> window = node_->open(group.ranks[i], (*cards)[i].exported);
    opened = window ? Status() : window.status();
    if (window) {
      windows[i] = window.take();
      memory.members.push_back(windows[i].data());
    }
  }
  Result<std::vector<Verdict>> verdicts = gather(group, verdictOf(opened));
  if (!verdicts)
    return verdicts.status();
  COLL_RETURN_IF_ERROR(opened);
  COLL_RETURN_IF_ERROR(outcomeOf(*verdicts, group.ranks));
  auto &lane = static_cast<DirectLane &>(*group.lane);
  memory.serial = lane.nextSerial++;
  lane.symmetric[memory.data] = memory;
  return std::unique_ptr<Registration>(
      new SymmetricMemory(*node_, lane, block.take(), std::move(windows), isUsers));
}

} // namespace coll::rt::direct
