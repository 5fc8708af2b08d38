// Collectives that only move data.

#include "runtime/backend/net/algorithms/algorithms.h"
#include "runtime/backend/net/algorithms/segments.h"

namespace coll::rt::network {

namespace {

void sendAll(const Plan &plan, int to, const char *src, int64_t bytes) {
  forEachSegment(bytes, plan.segmentBytes, [&](int64_t, int64_t offset, int64_t length) {
    plan.schedule.send(plan.rank(to), 0, src + offset, length);
  });
}

void recvAll(const Plan &plan, int from, char *dst, int64_t bytes) {
  forEachSegment(bytes, plan.segmentBytes, [&](int64_t, int64_t offset, int64_t length) {
    plan.schedule.recv(plan.rank(from), 0, dst + offset, length);
  });
}

} // namespace

void addTreeBroadcast(const Plan &plan, int root, char *data, int64_t bytes) {
  int n = plan.n(), relative = (plan.me + n - root) % n;
  // The parent's number is this one's without its lowest set bit; a child's number has one more bit
  // below it.
  int lowest = relative ? relative & -relative : n;
  forEachSegment(bytes, plan.segmentBytes, [&](int64_t, int64_t offset, int64_t length) {
    Schedule::Step here = Schedule::kNone;
    if (relative) {
      int parent = (relative - lowest + root) % n;
      here = plan.schedule.recv(plan.rank(parent), 0, data + offset, length);
    }
    int bit = 1;
    while (2 * bit < lowest && 2 * bit < n)
      bit *= 2;
    for (; bit > 0; bit /= 2)
      if (bit < lowest && relative + bit < n)
        plan.schedule.send(plan.rank((relative + bit + root) % n), 0, data + offset, length,
                           {here});
  });
}

void addRingBroadcast(const Plan &plan, int root, char *data, int64_t bytes) {
  bool isFirst = plan.me == root, isLast = plan.after(1) == root;
  forEachSegment(bytes, plan.segmentBytes, [&](int64_t, int64_t offset, int64_t length) {
    Schedule::Step here = Schedule::kNone;
    if (!isFirst)
      here = plan.schedule.recv(plan.rank(plan.before(1)), 0, data + offset, length);
    if (!isLast)
      plan.schedule.send(plan.rank(plan.after(1)), 0, data + offset, length, {here});
  });
}

void addDirectAllGather(const Plan &plan, const char *src, char *dst, int64_t bytes) {
  plan.schedule.copy(dst + plan.me * bytes, src, bytes);
  for (int i = 1; i < plan.n(); ++i) {
    sendAll(plan, plan.after(i), src, bytes);
    recvAll(plan, plan.before(i), dst + plan.before(i) * bytes, bytes);
  }
}

void addRingAllGather(const Plan &plan, const char *src, char *dst, int64_t bytes) {
  plan.schedule.copy(dst + plan.me * bytes, src, bytes);
  Schedule::Steps here; // of the block that is sent next
  for (int k = 0; k + 1 < plan.n(); ++k) {
    const char *out = k == 0 ? src : dst + plan.before(k) * bytes;
    char *in = dst + plan.before(k + 1) * bytes;
    Schedule::Steps arrived;
    forEachSegment(bytes, plan.segmentBytes, [&](int64_t i, int64_t offset, int64_t length) {
      Schedule::Step ready = here.empty() ? Schedule::kNone : here[static_cast<size_t>(i)];
      plan.schedule.send(plan.rank(plan.after(1)), 0, out + offset, length, {ready});
      arrived.push_back(plan.schedule.recv(plan.rank(plan.before(1)), 0, in + offset, length));
    });
    here = std::move(arrived);
  }
}

void addGather(const Plan &plan, int root, const char *src, char *dst, int64_t bytes) {
  if (plan.me != root)
    return sendAll(plan, root, src, bytes);
  plan.schedule.copy(dst + root * bytes, src, bytes);
  for (int i = 1; i < plan.n(); ++i)
    recvAll(plan, plan.after(i), dst + plan.after(i) * bytes, bytes);
}

void addScatter(const Plan &plan, int root, const char *src, char *dst, int64_t bytes) {
  if (plan.me != root)
    return recvAll(plan, root, dst, bytes);
  plan.schedule.copy(dst, src + root * bytes, bytes);
  for (int i = 1; i < plan.n(); ++i)
    sendAll(plan, plan.after(i), src + plan.after(i) * bytes, bytes);
}

void addAllToAll(const Plan &plan, const char *src, char *dst, int64_t bytes) {
  plan.schedule.copy(dst + plan.me * bytes, src + plan.me * bytes, bytes);
  for (int i = 1; i < plan.n(); ++i) {
    sendAll(plan, plan.after(i), src + plan.after(i) * bytes, bytes);
    recvAll(plan, plan.before(i), dst + plan.before(i) * bytes, bytes);
  }
}

void addPermute(const Plan &plan, int source, int target, const char *src, char *dst,
                int64_t bytes) {
  if (source == plan.me)
    plan.schedule.copy(dst, src, bytes);
  else if (source >= 0)
    recvAll(plan, source, dst, bytes);
  if (target >= 0 && target != plan.me)
    sendAll(plan, target, src, bytes);
}

} // namespace coll::rt::network
