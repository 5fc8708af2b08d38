// call_history.h - which calls of a group its members compare. Used by the rank's thread.

#ifndef COLL_RUNTIME_BACKEND_GPU_CALL_HISTORY_H
#define COLL_RUNTIME_BACKEND_GPU_CALL_HISTORY_H

#include "runtime/backend/call/signature.h"

#include <cstdint>
#include <unordered_set>

namespace coll::rt::gpu {

// Which calls of a group its members compare: the first one, which connects; calls unlike all
// before, and every kStretch-th call; or all.
enum class Comparison { First, Unlike, Every };
// Converts the values of COLL_NCCL_CHECK and COLL_DIRECT_CHECK: 0, 1, 2.
inline Comparison comparisonOf(int64_t check) {
  return check == 0 ? Comparison::First : check == 1 ? Comparison::Unlike : Comparison::Every;
}

// The calls that a group has made. All members make the same calls, so all get the same answers.
class CallHistory {
public:
  // Records a call, and the place of its destination in memory that all members know (or -1).
  // Returns whether no such call was recorded before.
  bool note(const CallSignature &signature, int64_t place);
  // A hash of the calls before the last one, in order.
  uint64_t hash() const { return before_; }
  // Whether the next call is to be compared even if it is known.
  bool isDue() const { return count_ % kStretch == 0; }

private:
  static constexpr uint64_t kStretch = 256;
  static constexpr size_t kMostKnown = 4096;
  std::unordered_set<uint64_t> known_;
  uint64_t count_ = 0, before_ = 0, now_ = 0;
};

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_CALL_HISTORY_H
