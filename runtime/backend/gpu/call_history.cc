#include "runtime/backend/gpu/call_history.h"

#include "runtime/base/fnv.h"

namespace coll::rt::gpu {

bool CallHistory::note(const CallSignature &signature, int64_t place) {
  const uint64_t hash = hashOf(signature) + static_cast<uint64_t>(place) * 0x9e3779b97f4a7c15u;
  ++count_;
  before_ = now_;
  now_ = fnvMixed(now_, hash);
  if (known_.size() >= kMostKnown)
    known_.clear();
  return known_.insert(hash).second;
}

} // namespace coll::rt::gpu
