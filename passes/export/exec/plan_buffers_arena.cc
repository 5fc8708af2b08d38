// Slots: pinned memory, and offsets in the arena.

#include "dialect/exec/exec.h"
#include "passes/export/exec/plan_buffers_impl.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::coll;

static int64_t align(int64_t bytes) { return exec::alignInBucket(bytes); }

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
    SmallVector<unsigned, 1> slots; // one behind the other
  };
  std::vector<Need> needs;
  llvm::DenseMap<unsigned, unsigned> slotOf; // of leaders in buckets
  for (unsigned leader : leaders) {
    const BufferClass &cls = classes_[leader];
    const unsigned slot = plan_.slots.size();
    plan_.slots.push_back({Slot::Kind::Arena, 0, cls.bytes});
    if (cls.bucket)
      slotOf[leader] = slot;
    else
      needs.push_back({hull(cls), align(std::max<int64_t>(cls.bytes, 1)), {slot}});
  }
  for (ArrayRef<unsigned> bucket : buckets_) {
    Need need{hull(classes_[find(bucket.front())]), 0, {}};
    for (unsigned content : bucket) {
      const BufferClass &cls = classes_[find(content)];
      need.live = {std::min(need.live.begin, hull(cls).begin),
                   std::max(need.live.end, hull(cls).end)};
      need.bytes += align(cls.bytes);
      need.slots.push_back(slotOf.lookup(find(content)));
    }
    need.bytes = std::max(need.bytes, align(1));
    needs.push_back(std::move(need));
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
      arena.release(plan_.slots[done.slots.front()].index, done.bytes);
      active.erase(active.begin());
    }
    int64_t offset = arena.allocate(need.bytes);
    for (unsigned slot : need.slots) {
      plan_.slots[slot].index = offset;
      offset += align(plan_.slots[slot].bytes);
    }
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
