// call_history.h - which calls of a group its members compare. On the rank's thread.

#ifndef COLL_RUNTIME_BACKEND_GPU_CALL_HISTORY_H
#define COLL_RUNTIME_BACKEND_GPU_CALL_HISTORY_H

#include "runtime/backend/call/signature.h"

#include <cstdint>
#include <unordered_set>

namespace coll::rt::gpu {

// Which calls of a group are compared between its members: the first one, to connect; those
// that are unlike all before, and once in a while any; or all.
enum class Comparison { First, Unlike, Every };
// As COLL_NCCL_CHECK and COLL_DIRECT_CHECK have them: 0, 1, 2.
inline Comparison comparisonOf(int64_t check) {
  return check == 0 ? Comparison::First : check == 1 ? Comparison::Unlike : Comparison::Every;
}

// The calls that a group has made. All members make the same, so they all find the same.
class CallHistory {
public:
  // Notes a call, and where its destination is in memory that all members know (or -1); whether
  // none like it has been noted before.
  bool note(const CallSignature &signature, int64_t place);
  // What was noted before the last call, in order.
  uint64_t hash() const { return before_; }
  // Whether it is time to compare any call, as it ends a stretch that was known from before.
  bool isDue() const { return count_ % kStretch == 0; }

private:
  static constexpr uint64_t kStretch = 256;
  static constexpr size_t kMostKnown = 4096;
  std::unordered_set<uint64_t> known_;
  uint64_t count_ = 0, before_ = 0, now_ = 0;
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_CALL_HISTORY_H
