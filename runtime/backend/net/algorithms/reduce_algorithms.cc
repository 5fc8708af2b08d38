// Collectives that combine data.

#include "runtime/backend/net/algorithms/algorithms.h"
#include "runtime/backend/net/algorithms/segments.h"
#include "runtime/base/dtype.h"

#include <algorithm>

namespace coll::rt::network {

namespace {

using Step = Schedule::Step;
using Steps = Schedule::Steps;

constexpr int64_t kLine = 64;

Step at(const Steps &steps, int64_t i) {
  return i >= 0 && static_cast<size_t>(i) < steps.size() ? steps[static_cast<size_t>(i)]
                                                         : Schedule::kNone;
}

int64_t elemsOf(const Plan &plan, int64_t bytes) { return bytes / dtypeSize(plan.dtype); }

// If partial results are sent, an average is a sum that is divided at the end.
CollReduction partialOf(const Plan &plan) {
  return plan.reduction == kCollAvg ? kCollSum : plan.reduction;
}

Step divideAverage(const Plan &plan, char *data, int64_t bytes, const Step &after) {
  if (plan.reduction != kCollAvg)
    return after;
  return plan.schedule.divide(plan.dtype, data, elemsOf(plan, bytes), plan.n(), {after});
}

// Receives all members' parts of one block, segment by segment, and combines them from left to
// right into `dst`. Returns the steps that do so.
Result<Steps> collectBlock(const Plan &plan, const char *own, char *dst, int64_t bytes) {
  int n = plan.n();
  int64_t segment = std::min(plan.segmentBytes, bytes);
  const int64_t slots = plan.schedule.window(); // receive buffers, counted in segments
  Result<char *> scratch = plan.schedule.scratch(slots * (n - 1) * segment);
  if (!scratch)
    return scratch.status();
  Steps reduced;
  forEachSegment(bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
    std::vector<const void *> sources(static_cast<size_t>(n));
    sources[static_cast<size_t>(plan.me)] = own + offset;
    Steps arrived;
    for (int d = 1; d < n; ++d) {
      char *slot = *scratch + ((i % slots) * (n - 1) + d - 1) * segment;
      int from = plan.before(d);
      sources[static_cast<size_t>(from)] = slot;
      arrived.push_back(
          plan.schedule.recv(plan.rank(from), 0, slot, length, {at(reduced, i - slots)}));
    }
    reduced.push_back(plan.schedule.reduce(plan.dtype, plan.reduction, sources, dst + offset,
                                           elemsOf(plan, length), arrived));
  });
  return reduced;
}

} // namespace

Part partOf(int64_t bytes, int j, int n) {
  int64_t lines = (bytes + kLine - 1) / kLine;
  int64_t begin = std::min(lines * j / n * kLine, bytes);
  int64_t end = std::min(lines * (j + 1) / n * kLine, bytes);
  return {begin, end - begin};
}

//===-- direct ------------------------------------------------------------------===//

namespace {

// Sends every other member its part, segment by segment. Returns the steps by position.
std::vector<Steps> sendParts(const Plan &plan, const char *src, int64_t bytes) {
  const int n = plan.n();
  std::vector<Steps> sent(static_cast<size_t>(n));
  for (int d = 1; d < n; ++d) {
    int to = plan.after(d);
    Part part = partOf(bytes, to, n);
    forEachSegment(part.bytes, plan.segmentBytes, [&](int64_t, int64_t offset, int64_t length) {
      sent[static_cast<size_t>(to)].push_back(
          plan.schedule.send(plan.rank(to), 0, src + part.offset + offset, length));
    });
  }
  return sent;
}

} // namespace

Status addDirectAllReduce(const Plan &plan, const char *src, char *dst, int64_t bytes) {
  int n = plan.n();
  std::vector<Steps> sent = sendParts(plan, src, bytes);
  Part mine = partOf(bytes, plan.me, n);
  Result<Steps> reduced = collectBlock(plan, src + mine.offset, dst + mine.offset, mine.bytes);
  if (!reduced)
    return reduced.status();
  forEachSegment(mine.bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
    for (int d = 1; d < n; ++d)
      plan.schedule.send(plan.rank(plan.after(d)), 1, dst + mine.offset + offset, length,
                         {at(*reduced, i)});
  });
  for (int d = 1; d < n; ++d) {
    int from = plan.before(d);
    Part part = partOf(bytes, from, n);
    // In place, the result overwrites data that this member has sent.
    forEachSegment(part.bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
      plan.schedule.recv(plan.rank(from), 1, dst + part.offset + offset, length,
                         {at(sent[static_cast<size_t>(from)], i)});
    });
  }
  return {};
}

Status addDirectReduceScatter(const Plan &plan, const char *src, char *dst, int64_t bytes) {
  for (int d = 1; d < plan.n(); ++d) {
    int to = plan.after(d);
    forEachSegment(bytes, plan.segmentBytes, [&](int64_t, int64_t offset, int64_t length) {
      plan.schedule.send(plan.rank(to), 0, src + to * bytes + offset, length);
    });
  }
  return collectBlock(plan, src + plan.me * bytes, dst, bytes).status();
}

// Every member combines a part; the root gathers them.
Status addDirectReduce(const Plan &plan, int root, const char *src, char *dst, int64_t bytes) {
  int n = plan.n();
  std::vector<Steps> sent = sendParts(plan, src, bytes);
  Part mine = partOf(bytes, plan.me, n);
  char *out = dst + mine.offset;
  if (plan.me != root && mine.bytes > 0) {
    Result<char *> scratch = plan.schedule.scratch(mine.bytes);
    if (!scratch)
      return scratch.status();
    out = *scratch;
  }
  Result<Steps> reduced = collectBlock(plan, src + mine.offset, out, mine.bytes);
  if (!reduced)
    return reduced.status();
  if (plan.me != root) {
    forEachSegment(mine.bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
      plan.schedule.send(plan.rank(root), 1, out + offset, length, {at(*reduced, i)});
    });
    return {};
  }
  for (int d = 1; d < n; ++d) {
    int from = plan.before(d);
    Part part = partOf(bytes, from, n);
    forEachSegment(part.bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
      plan.schedule.recv(plan.rank(from), 1, dst + part.offset + offset, length,
                         {at(sent[static_cast<size_t>(from)], i)});
    });
  }
  return {};
}

//===-- ring --------------------------------------------------------------------===//

namespace {

// A block that travels around the ring: this member's part of it, and the destination of the
// partial result.
struct RingBlock {
  const char *own;
  char *partial;
  int64_t bytes;
};

// Repeats n - 1 times: sends the block that was received, and combines the next one. `block(d)` is
// the one that starts d positions before this member; the last one, block(n - 1), becomes complete.
// Returns the steps that read own parts (by d) and those that completed it.
template <typename Block>
Status reduceAround(const Plan &plan, Block block, std::vector<Steps> &sent, Steps &complete) {
  int64_t segment = plan.segmentBytes;
  const int64_t slots = plan.schedule.window();
  Result<char *> scratch = plan.schedule.scratch(slots * segment);
  if (!scratch)
    return scratch.status();
  int left = plan.rank(plan.before(1)), right = plan.rank(plan.after(1));
  Steps combined; // of the block that is sent next
  Steps used;     // in the order of the slots
  for (int k = 0; k + 1 < plan.n(); ++k) {
    RingBlock out = block(k), in = block(k + 1);
    sent.emplace_back();
    forEachSegment(out.bytes, segment, [&](int64_t i, int64_t offset, int64_t length) {
      const char *from = (k == 0 ? out.own : out.partial) + offset;
      sent.back().push_back(plan.schedule.send(right, 0, from, length, {at(combined, i)}));
    });
    combined.clear();
    forEachSegment(in.bytes, segment, [&](int64_t, int64_t offset, int64_t length) {
      int64_t turn = static_cast<int64_t>(used.size());
      char *slot = *scratch + turn % slots * segment;
      Step here = plan.schedule.recv(left, 0, slot, length, {at(used, turn - slots)});
      used.push_back(plan.schedule.reduce(plan.dtype, partialOf(plan), {slot, in.own + offset},
                                          in.partial + offset, elemsOf(plan, length), {here}));
      combined.push_back(used.back());
    });
  }
  complete = std::move(combined);
  return {};
}

} // namespace

Status addRingAllReduce(const Plan &plan, const char *src, char *dst, int64_t bytes) {
  int n = plan.n();
  auto part = [&](int d) { return partOf(bytes, plan.before(d), n); };
  std::vector<Steps> sent;
  Steps ready;
  COLL_RETURN_IF_ERROR(reduceAround(
      plan,
      [&](int d) {
        Part p = part(d);
        return RingBlock{src + p.offset, dst + p.offset, p.bytes};
      },
      sent, ready));
  // The complete block is part(n - 1); now the results travel around the ring.
  Part mine = part(n - 1);
  forEachSegment(mine.bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
    Step &step = ready[static_cast<size_t>(i)];
    step = divideAverage(plan, dst + mine.offset + offset, length, step);
  });
  int left = plan.rank(plan.before(1)), right = plan.rank(plan.after(1));
  for (int k = 0; k + 1 < n; ++k) {
    Part out = part((n - 1 + k) % n), in = part(k);
    forEachSegment(out.bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
      plan.schedule.send(right, 1, dst + out.offset + offset, length, {at(ready, i)});
    });
    ready.clear();
    forEachSegment(in.bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
      // Overwrites the partial result, which has been sent.
      ready.push_back(plan.schedule.recv(left, 1, dst + in.offset + offset, length,
                                         {at(sent[static_cast<size_t>(k)], i)}));
    });
  }
  return {};
}

Status addRingReduceScatter(const Plan &plan, const char *src, char *dst, int64_t bytes) {
  int n = plan.n();
  Result<char *> partials = plan.schedule.scratch(n * bytes);
  if (!partials)
    return partials.status();
  std::vector<Steps> sent;
  Steps ready;
  // The block that ends here belongs to this member.
  COLL_RETURN_IF_ERROR(reduceAround(
      plan,
      [&](int d) {
        int block = plan.before((d + 1) % n);
        char *partial = d == n - 1 ? dst : *partials + block * bytes;
        return RingBlock{src + block * bytes, partial, bytes};
      },
      sent, ready));
  forEachSegment(bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
    divideAverage(plan, dst + offset, length, at(ready, i));
  });
  return {};
}

//===-- halving and doubling ----------------------------------------------------===//

namespace {

// Positions in the largest power of two below n. Among the first 2 * rest members, each one with an
// odd position also acts for the one before it.
struct Fold {
  explicit Fold(int n) {
    while (2 * power <= n)
      power *= 2;
    rest = n - power;
  }
  int number(int position) const {
    if (position >= 2 * rest)
      return position - rest;
    return position % 2 ? position / 2 : -1;
  }
  int position(int number) const { return number < rest ? 2 * number + 1 : number + rest; }
  int power = 1;
  int rest = 0;
};

struct Halving {
  const Plan &plan;
  char *dst;
  int64_t bytes;
  char *scratch;
  int parts;

  Part range(int begin, int end) const {
    Part first = partOf(bytes, begin, parts), last = partOf(bytes, end - 1, parts);
    return {first.offset, last.offset + last.bytes - first.offset};
  }
  Step combine(Part part, bool theirsFirst, const Steps &after) const {
    char *mine = dst + part.offset;
    const void *theirs = scratch + part.offset;
    std::vector<const void *> sources = {mine, theirs};
    if (theirsFirst)
      std::swap(sources[0], sources[1]);
    return plan.schedule.reduce(plan.dtype, partialOf(plan), sources, mine,
                                elemsOf(plan, part.bytes), after);
  }
};

// The exchanges among the acting members. `number` is this one's.
Step exchangeHalves(const Halving &h, const Fold &fold, int number, Step ready) {
  const Plan &plan = h.plan;
  int begin = 0, end = fold.power;
  uint32_t label = 1;
  std::vector<std::pair<int, int>> ranges; // before each halving
  Steps sent;
  for (int mask = fold.power / 2; mask > 0; mask /= 2, ++label) {
    ranges.emplace_back(begin, end);
    int peer = plan.rank(fold.position(number ^ mask)), middle = (begin + end) / 2;
    bool upper = number & mask;
    Part keep = upper ? h.range(middle, end) : h.range(begin, middle);
    Part give = upper ? h.range(begin, middle) : h.range(middle, end);
    sent.push_back(plan.schedule.send(peer, label, h.dst + give.offset, give.bytes, {ready}));
    Step here = plan.schedule.recv(peer, label, h.scratch + keep.offset, keep.bytes, {ready});
    Step combined = h.combine(keep, upper, {here, ready});
    // An empty part still has to wait for the steps before it.
    ready = combined == Schedule::kNone ? ready : combined;
    (upper ? begin : end) = middle;
  }
  Part mine = h.range(begin, end);
  if (mine.bytes > 0)
    ready = divideAverage(plan, h.dst + mine.offset, mine.bytes, ready);
  Steps done = {ready};
  for (int mask = 1; mask < fold.power; mask *= 2, ++label) {
    int peer = plan.rank(fold.position(number ^ mask));
    auto [outerBegin, outerEnd] = ranges.back();
    ranges.pop_back();
    bool upper = number & mask;
    Part have = h.range(begin, end);
    Part want = upper ? h.range(outerBegin, begin) : h.range(end, outerEnd);
    plan.schedule.send(peer, label, h.dst + have.offset, have.bytes, done);
    // Overwrites data of this half that was sent.
    Steps after = {sent.back()};
    sent.pop_back();
    done.push_back(plan.schedule.recv(peer, label, h.dst + want.offset, want.bytes, after));
    begin = outerBegin;
    end = outerEnd;
  }
  return plan.schedule.reduce(plan.dtype, partialOf(plan), {h.dst}, h.dst, 1, done);
}

} // namespace

Status addHalvingAllReduce(const Plan &plan, const char *src, char *dst, int64_t bytes) {
  Fold fold(plan.n());
  Result<char *> scratch = plan.schedule.scratch(bytes);
  if (!scratch)
    return scratch.status();
  Step ready = plan.schedule.copy(dst, src, bytes);
  int number = fold.number(plan.me);
  if (number < 0) {
    int partner = plan.rank(plan.me + 1);
    Step sent = plan.schedule.send(partner, 0, dst, bytes, {ready});
    plan.schedule.recv(partner, 0, dst, bytes, {sent});
    return {};
  }
  Halving halving = {plan, dst, bytes, *scratch, fold.power};
  bool stands = plan.me < 2 * fold.rest;
  if (stands) {
    Step here = plan.schedule.recv(plan.rank(plan.me - 1), 0, *scratch, bytes, {ready});
    ready = halving.combine({0, bytes}, /*theirsFirst=*/true, {here, ready});
  }
  ready = exchangeHalves(halving, fold, number, ready);
  if (stands)
    plan.schedule.send(plan.rank(plan.me - 1), 0, dst, bytes, {ready});
  return {};
}

//===-- tree --------------------------------------------------------------------===//

Status addTreeReduce(const Plan &plan, int root, const char *src, char *dst, int64_t bytes) {
  int n = plan.n(), relative = (plan.me + n - root) % n;
  Result<char *> scratch = plan.schedule.scratch(2 * bytes);
  if (!scratch)
    return scratch.status();
  char *incoming = *scratch;
  char *partial = relative ? *scratch + bytes : dst;
  forEachSegment(bytes, plan.segmentBytes, [&](int64_t, int64_t offset, int64_t length) {
    const char *mine = src + offset;
    Step ready = Schedule::kNone;
    for (int bit = 1; bit < n; bit *= 2) {
      if (relative & bit) {
        plan.schedule.send(plan.rank((relative - bit + root) % n), 0, mine, length, {ready});
        return;
      }
      if (relative + bit >= n)
        continue;
      int child = plan.rank((relative + bit + root) % n);
      Step here = plan.schedule.recv(child, 0, incoming + offset, length, {ready});
      ready = plan.schedule.reduce(plan.dtype, partialOf(plan), {mine, incoming + offset},
                                   partial + offset, elemsOf(plan, length), {here});
      mine = partial + offset;
    }
    divideAverage(plan, dst + offset, length, ready);
  });
  return {};
}

} // namespace coll::rt::network
