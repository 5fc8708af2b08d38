// contraction.h - CollContraction (abi.h): its validity, and its result on host memory.

#ifndef COLL_RUNTIME_STEP_DEVICE_CONTRACTION_H
#define COLL_RUNTIME_STEP_DEVICE_CONTRACTION_H

#include "runtime/base/status.h"
#include "runtime/step/abi/abi.h"

#include <string>

namespace coll::rt {

// "f32 x f32 -> f32 in tf32, 2 x 64x32x128": batch, m, n and k; for messages.
std::string describe(const CollContraction &contraction);

// Ok, or why the contraction is invalid on any device. Pointers may be null only if their matrix is
// empty.
Status checkContraction(const CollContraction &contraction, const void *a, const void *b,
                        const void *out);

inline bool hasBias(const CollContraction &c) {
  return c.epilogue == kCollEpilogueBias || c.epilogue == kCollEpilogueBiasRelu ||
         c.epilogue == kCollEpilogueBiasGelu;
}

// Whether it has a gelu, which may keep its argument (CollContraction::kept).
inline bool hasGelu(const CollContraction &c) {
  return c.epilogue == kCollEpilogueGelu || c.epilogue == kCollEpilogueBiasGelu;
}

// Whether `out` is empty. Column sums (CollContraction::kept) then are zeros.
inline bool isEmpty(const CollContraction &c) { return c.batch == 0 || c.m == 0 || c.n == 0; }

// Computes a valid contraction on the calling thread. f32 and f64 use the matrix library (gemm.h);
// f32 is true f32 in every form.
Status contractOnHost(const CollContraction &contraction, const void *a, const void *b, void *out);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_CONTRACTION_H
