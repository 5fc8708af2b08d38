// signature.h - what all members of a group have to agree on in one call.

#ifndef COLL_RUNTIME_BACKEND_CALL_SIGNATURE_H
#define COLL_RUNTIME_BACKEND_CALL_SIGNATURE_H

#include "runtime/backend/backend.h"

namespace coll::rt {

// Plain numbers, so that it can be sent. Fields that the kind does not use are zero.
struct CallSignature {
  OpKind kind = OpKind::Barrier;
  CollDtype dtype = kCollF32;
  CollReduction reduction = kCollSum;
  CollAccumulation accumulation = kCollAccumulateAny;
  CollOrder order = kCollOrderAny;
  int32_t root = 0;
  int32_t op = -1;
  int32_t program = 0;
  int32_t numPairs = 0;
  uint64_t pairsHash = 0; // of the pairs, in order
  uint64_t update = 0;    // RootUpdateSpec::mark()
  int64_t outer = 1;
  int64_t count = 0;
  int64_t dstOuter = 1;
  int64_t dstCount = 0;
  double scale = 1;
};

CallSignature signatureOf(const Call &call);

// Equal for equal signatures, also of different programs.
uint64_t hashOf(const CallSignature &signature);

// The first difference between two members' calls ("counts", "roots", …), or null.
const char *difference(const CallSignature &a, const CallSignature &b);

} // namespace coll::rt

#endif // COLL_RUNTIME_BACKEND_CALL_SIGNATURE_H
