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
// Floats narrower than f32 are combined in f32 and rounded once. avg divides the sum by numSrcs; a
// sum of integers, which may have wrapped, is divided towards zero, as ncclAvg does. min and max of
// floats give NaN if an operand is NaN. Integers wrap. Booleans: sum, max and or mean "or"; prod,
// min and and mean "and".
void reduceBuffers(CollDtype dtype, CollReduction reduction, const void *const *srcs, int numSrcs,
                   void *dst, int64_t count);

// data[i] /= divisor for i < count, the last step of avg, for types that are summed without
// widening: all that take avg except narrow floats. divisor >= 1.
void divideBuffer(CollDtype dtype, void *data, int64_t count, int divisor);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_REDUCE_H
