// device_calls.h - the functions of CollAbi that work on the rank's device (step/device).

#ifndef COLL_RUNTIME_STEP_ABI_DEVICE_CALLS_H
#define COLL_RUNTIME_STEP_ABI_DEVICE_CALLS_H

#include "runtime/step/abi/abi.h"

namespace coll::rt {

int32_t abiLaunch(CollContext *ctx, int32_t op, int32_t kernel, const void *const *args,
                  int32_t numArgs);
int32_t abiCopy(CollContext *ctx, int32_t op, void *dst, const void *src, int64_t bytes);
int32_t abiFill(CollContext *ctx, int32_t op, void *dst, const void *pattern, int32_t patternBytes,
                int64_t count);
int32_t abiFetch(CollContext *ctx, int32_t op, void *hostDst, const void *src, int64_t bytes);
int32_t abiStore(CollContext *ctx, int32_t op, void *dst, const void *hostSrc, int64_t bytes);
int32_t abiConstants(CollContext *ctx, void **base);
int32_t abiContract(CollContext *ctx, int32_t op, const CollContraction *contraction, const void *a,
                    const void *b, void *out);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_ABI_DEVICE_CALLS_H
