// reduce.h - combines several buffers elementwise.

#ifndef COLL_RUNTIME_BASE_REDUCE_H
#define COLL_RUNTIME_BASE_REDUCE_H

#include "runtime/base/codes.h"

#include <cstdint>

namespace coll::rt {

// dst[i] = srcs[0][i] (reduction) … (reduction) srcs[numSrcs - 1][i] for i < count,
// strictly left to right. numSrcs >= 1. The type must take the reduction
// (reductionTakes). dst may be any of the sources.
//
// Floats narrower than f32 are combined in f32 and rounded once. avg divides the sum by
// numSrcs; that of integers, which has wrapped in their type, towards zero, as ncclAvg does.
// min and max of floats give NaN where an operand is NaN. Integers wrap. Booleans: sum, max,
// or = or; prod, min, and = and.
void reduceBuffers(CollDtype dtype, CollReduction reduction, const void *const *srcs, int numSrcs,
                   void *dst, int64_t count);

// data[i] /= divisor for i < count, the last step of avg, for types that are summed in themselves:
// all that take avg except narrow floats. divisor >= 1.
void divideBuffer(CollDtype dtype, void *data, int64_t count, int divisor);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_REDUCE_H
