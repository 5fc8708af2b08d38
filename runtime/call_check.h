// call_check.h - checks a call before a backend sees it.

#ifndef COLL_RUNTIME_CALL_CHECK_H
#define COLL_RUNTIME_CALL_CHECK_H

#include "runtime/backend.h"

namespace coll::rt {

// What is wrong with the call on this member of a group of `n`, or ok: afterwards
// all that backend.h promises of a Call holds. The enums may hold any number.
Status checkCall(const Call &call, int64_t n, int64_t position);

// Bytes that the member contributes; the call must have passed checkCall.
int64_t payloadBytes(const Call &call, int64_t n, int64_t position);

} // namespace coll::rt

#endif // COLL_RUNTIME_CALL_CHECK_H
