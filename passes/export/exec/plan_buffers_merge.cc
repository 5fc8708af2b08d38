// Which contents share a buffer, and the copies that remain.

#include "passes/export/exec/plan_buffers_impl.h"

using namespace mlir;
using namespace mlir::coll;

// Checking two classes costs the product of their sizes; optional sharing is not tried on large
// classes.
static constexpr size_t kMaxPairs = 1 << 16;

unsigned BufferPlanner::find(unsigned content) const {
  while (parent_[content] != content)
    content = parent_[content] = parent_[parent_[content]];
  return content;
}

/// Whether the lifetimes of two contents overlap without permission.
bool BufferPlanner::conflict(unsigned a, unsigned b) const {
  auto window = [&](unsigned src, unsigned dst) {
    auto it = allowed_.find({src, dst});
    return it == allowed_.end() ? Interval{0, 0} : it->second;
  };
  Interval ab = window(a, b), ba = window(b, a);
  for (Interval x : contents_[a].live)
    for (Interval y : contents_[b].live) {
      int64_t begin = std::max(x.begin, y.begin), end = std::min(x.end, y.end);
      bool excused = (ab.begin <= begin && end <= ab.end) || (ba.begin <= begin && end <= ba.end);
      if (begin < end && !excused)
        return true;
    }
  return false;
}

bool BufferPlanner::canMerge(const BufferClass &a, const BufferClass &b) const {
  if ((a.pin && b.pin) || a.readOnly || b.readOnly || a.bytes != b.bytes)
    return false;
  if ((a.bucket && (b.bucket || b.pin)) || (b.bucket && a.pin))
    return false;
  for (unsigned x : a.members)
    for (unsigned y : b.members)
      if (conflict(x, y))
        return false;
  return true;
}

void BufferPlanner::merge(unsigned a, unsigned b) {
  a = find(a), b = find(b);
  if (a == b)
    return;
  if (classes_[a].members.size() < classes_[b].members.size())
    std::swap(a, b);
  BufferClass &into = classes_[a], &from = classes_[b];
  parent_[b] = a;
  llvm::append_range(into.members, from.members);
  if (from.pin)
    into.pin = from.pin;
  if (from.bucket)
    into.bucket = from.bucket;
  into.readOnly |= from.readOnly;
  into.bytes = std::max(into.bytes, from.bytes);
  from.members.clear();
}

/// The two are one content under two values, such as a loop's argument and its result.
void BufferPlanner::identify(unsigned content, unsigned other) {
  merge(content, other);
  sameAs_[content] = other;
}

/// Whether contents that do not share a buffer are copied.
static bool isMove(const Tie &tie) {
  return tie.kind != Tie::Kind::Alias && tie.kind != Tie::Kind::Future;
}

// Order: contents in flight first, because they cannot be copied; then ties that would cost a copy,
// those in inner loops first, because such copies run most often; last, sharing that only saves
// memory.
void BufferPlanner::mergeTies() {
  std::vector<unsigned> order(ties_.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  auto key = [&](unsigned i) {
    const Tie &tie = ties_[i];
    bool inFlight = tie.kind == Tie::Kind::Future, optional = tie.kind == Tie::Kind::Alias;
    return std::make_tuple(!inFlight, optional, -tie.depth, tie.kind, -contents_[tie.src].bytes);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return key(a) < key(b); });
  for (unsigned i : order) {
    unsigned a = find(ties_[i].src), b = find(ties_[i].dst);
    size_t pairs = classes_[a].members.size() * classes_[b].members.size();
    if (a == b || (ties_[i].kind == Tie::Kind::Alias && pairs > kMaxPairs))
      continue;
    if (canMerge(classes_[a], classes_[b]))
      merge(a, b);
  }

  llvm::MapVector<Operation *, SmallVector<Tie>> left;
  for (const Tie &tie : ties_) {
    bool shared = find(tie.src) == find(tie.dst);
    if (isMove(tie) && !shared)
      left[tie.at].push_back(tie);
  }
  for (auto &[at, ties] : left)
    orderCopies(at, ties);
  // Moves without a copy come last: copies may still read their contents.
  for (const Tie &tie : ties_)
    if (isMove(tie) && find(tie.src) == find(tie.dst))
      plan_.movesBefore[tie.at].push_back({tie.src, tie.dst, /*isCopy=*/false});
}

unsigned BufferPlanner::addTemporary(Operation *at, int64_t bytes) {
  return define(Value(), bytes, writtenBy(at));
}

/// Orders copies that happen at the same time: a buffer is overwritten only when no other copy
/// still reads it; a cycle is broken with a temporary.
void BufferPlanner::orderCopies(Operation *at, ArrayRef<Tie> ties) {
  SmallVector<std::pair<unsigned, unsigned>> pending;
  SmallVector<Move> &out = plan_.movesBefore[at];
  llvm::DenseMap<unsigned, unsigned> readers; // by buffer class
  for (const Tie &tie : ties) {
    pending.push_back({tie.src, tie.dst});
    ++readers[find(tie.src)];
  }
  while (!pending.empty()) {
    size_t before = pending.size();
    llvm::erase_if(pending, [&](std::pair<unsigned, unsigned> copy) {
      if (readers.lookup(find(copy.second)))
        return false;
      out.push_back({copy.first, copy.second, /*isCopy=*/true});
      --readers[find(copy.first)];
      return true;
    });
    if (pending.size() < before)
      continue;
    unsigned blocked = find(pending.front().second);
    unsigned temporary = addTemporary(at, classes_[blocked].bytes);
    bool saved = false;
    for (auto &copy : pending) {
      if (find(copy.first) != blocked)
        continue;
      if (!saved)
        out.push_back({copy.first, temporary, /*isCopy=*/true});
      saved = true;
      --readers[blocked];
      ++readers[temporary];
      copy.first = temporary;
    }
  }
}
