// plan.h - the kernel arguments that the host derives from a call of moe.h. Internal to
// runtime/kernels.

#ifndef COLL_RUNTIME_KERNELS_MOE_PLAN_H
#define COLL_RUNTIME_KERNELS_MOE_PLAN_H

#include "runtime/kernels/moe/moe.h"

#include <cstdint>

namespace coll::kernels::moe {

// `what` is the call's hash for peer::Call; it differs if members' calls do.

struct Layout {
  MoeLayoutArgs call;
  uint32_t blocks, threads;
};
Layout planLayout(const MoeLayoutArgs &args);

struct Notify {
  MoeNotifyArgs call;
  uint32_t what;
  uint32_t blocks, threads;
};
Notify planNotify(const PeerGroup &group, const MoeNotifyArgs &args);

// The pieces in which rows are moved.
struct Pieces {
  uint32_t rowBytes = 0;
  uint32_t bytes = 0; // of all pieces but the last; a multiple of 16
  uint32_t count = 0; // of a row

  // Makes pieces of about equal size, none larger than `most`.
  static Pieces of(uint32_t rowBytes, uint32_t most);
};

struct Dispatch {
  MoeDispatchArgs call;
  MoeArea area;
  Pieces pieces;
  uint32_t what;
};
// Fills in `call.grid`.
Dispatch planDispatch(const PeerGroup &group, const MoeDispatchArgs &args);

struct Combine {
  MoeCombineArgs call;
  Pieces pieces;
  uint32_t what;
};
Combine planCombine(const PeerGroup &group, const MoeCombineArgs &args);

// Shared memory of a block of dispatch and combine.
uint64_t dispatchSharedBytes(uint32_t threads);
uint64_t combineSharedBytes(uint32_t threads);

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_PLAN_H
