// Slots: pinned memory, and offsets in the arena.

#include "passes/export/exec/plan_buffers_impl.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::coll;

static constexpr int64_t kAlignment = 64;

Interval BufferPlanner::hull(const BufferClass &cls) const {
  Interval all{INT64_MAX, 0};
  for (unsigned member : cls.members)
    for (Interval live : contents_[member].live)
      all = {std::min(all.begin, live.begin), std::max(all.end, live.end)};
  return all;
}

namespace {
/// Free ranges below a growing end; best fit.
class Arena {
public:
  int64_t allocate(int64_t bytes) {
    auto fit = bySize_.lower_bound({bytes, 0});
    if (fit == bySize_.end())
      return grow(bytes);
    auto [size, offset] = *fit;
    remove(offset);
    if (size > bytes)
      insert(offset + bytes, size - bytes);
    return offset;
  }

  void release(int64_t offset, int64_t bytes) {
    auto next = byOffset_.lower_bound(offset);
    if (next != byOffset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      remove(next->first);
    }
    auto previous = byOffset_.lower_bound(offset);
    if (previous != byOffset_.begin()) {
      --previous;
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        bytes += previous->second;
        remove(offset);
      }
    }
    insert(offset, bytes);
  }

  int64_t bytes() const { return end_; }

private:
  int64_t grow(int64_t bytes) {
    int64_t offset = end_;
    if (!byOffset_.empty()) {
      auto last = std::prev(byOffset_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        remove(offset);
      }
    }
    end_ = offset + bytes;
    return offset;
  }
  void insert(int64_t offset, int64_t bytes) {
    byOffset_[offset] = bytes;
    bySize_.insert({bytes, offset});
  }
  void remove(int64_t offset) {
    auto it = byOffset_.find(offset);
    bySize_.erase({it->second, offset});
    byOffset_.erase(it);
  }

  std::map<int64_t, int64_t> byOffset_;
  std::set<std::pair<int64_t, int64_t>> bySize_;
  int64_t end_ = 0;
};
} // namespace

/// In order of first use: memory whose use has ended is free again.
void BufferPlanner::placeInArena(ArrayRef<unsigned> leaders) {
  struct Need {
    Interval live;
    int64_t bytes;
    unsigned slot;
  };
  std::vector<Need> needs;
  for (unsigned leader : leaders) {
    const BufferClass &cls = classes_[leader];
    int64_t bytes = std::max<int64_t>(cls.bytes, 1);
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    needs.push_back({hull(cls), bytes, static_cast<unsigned>(plan_.slots.size())});
    plan_.slots.push_back({Slot::Kind::Arena, 0, cls.bytes});
  }
  // Larger first among those that begin together.
  std::stable_sort(needs.begin(), needs.end(), [](const Need &a, const Need &b) {
    return std::make_pair(a.live.begin, -a.bytes) < std::make_pair(b.live.begin, -b.bytes);
  });
  Arena arena;
  std::multimap<int64_t, const Need *> active; // by end
  for (const Need &need : needs) {
    while (!active.empty() && active.begin()->first <= need.live.begin) {
      const Need &done = *active.begin()->second;
      arena.release(plan_.slots[done.slot].index, done.bytes);
      active.erase(active.begin());
    }
    plan_.slots[need.slot].index = arena.allocate(need.bytes);
    active.insert({need.live.end, &need});
  }
  plan_.arenaBytes = arena.bytes();
}

void BufferPlanner::assignSlots() {
  llvm::DenseMap<unsigned, unsigned> slotOfLeader;
  SmallVector<unsigned> unplaced;
  for (unsigned i = 0; i < contents_.size(); ++i) {
    if (find(i) != i)
      continue;
    if (classes_[i].pin) {
      slotOfLeader[i] = plan_.slots.size();
      plan_.slots.push_back(*classes_[i].pin);
    } else {
      unplaced.push_back(i);
    }
  }
  for (auto [i, leader] : llvm::enumerate(unplaced))
    slotOfLeader[leader] = plan_.slots.size() + i;
  placeInArena(unplaced);

  auto nameOf = [&](unsigned content) {
    for (auto it = sameAs_.find(content); it != sameAs_.end(); it = sameAs_.find(content))
      content = it->second;
    return content;
  };
  for (auto [i, content] : llvm::enumerate(contents_))
    plan_.contents.push_back(
        {slotOfLeader.lookup(find(i)), content.bytes, content.isSlot, content.loc});
  auto record = [&](Value value) {
    auto it = contentOf_.find(root(value));
    if (it != contentOf_.end())
      plan_.contentOf[value] = nameOf(it->second);
  };
  func_.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), record);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), record);
  });
  for (auto &[at, moves] : plan_.movesBefore)
    for (Move &move : moves)
      move = {nameOf(move.src), nameOf(move.dst), move.isCopy};
  for (auto [call, content] : scratch_)
    plan_.scratchOf[call] = content;
}
