// check.h - checks a call before a backend sees it.

#ifndef COLL_RUNTIME_BACKEND_CALL_CHECK_H
#define COLL_RUNTIME_BACKEND_CALL_CHECK_H

#include "runtime/backend/backend.h"

namespace coll::rt {

// The enumerations of a call before they are checked: any number.
struct CallCodes {
  int32_t dtype = kCollF32;
  int32_t reduction = kCollSum;
  int32_t accumulation = kCollAccumulateAny;
  int32_t order = kCollOrderAny;
};

// Sets the call's enumerations, or says which number is invalid.
Status setCodes(Call &call, const CallCodes &codes);

// The error of the call on this member of a group of `n`, or ok. If ok, everything holds that
// backend.h promises of a Call.
Status checkCall(const Call &call, int64_t n, int64_t position);

// The numbers of elements of a member's buffers; 0 if a buffer is not used.
struct CallExtents {
  int64_t src = 0, dst = 0;
};
CallExtents extentsOf(const Call &call, int64_t n, int64_t position);
// The type of the destination's elements; the source's elements have the call's type.
CollDtype dstType(const Call &call);

// Bytes that the member contributes; the call must have passed checkCall.
int64_t payloadBytes(const Call &call, int64_t n, int64_t position);

} // namespace coll::rt

#endif // COLL_RUNTIME_BACKEND_CALL_CHECK_H
