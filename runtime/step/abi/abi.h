/* abi.h - the C interface between a compiled step and the runtime.
 *
 * A compiled step (from the JIT or a loaded shared object alike) exports
 *
 *   int32_t coll_step(const CollAbi *, CollContext *, void *const *args,
 *                     void *const *results, void *arena);
 *   int32_t coll_init(…the same…);            (absent where there is no @init)
 *   const char coll_descriptor[];             (JSON, NUL-terminated; see program.h)
 *
 * args[i] is this rank's part of argument i, dense, row-major. results[k] receives
 * result k; a result whose descriptor names an argument is written in place, and
 * results[k] is then that argument's buffer. arena is scratch memory of
 * descriptor.arenaBytes, 64-byte aligned; its content does not survive the call.
 * Booleans (i1) take one byte. All buffers are 64-byte aligned.
 */

#ifndef COLL_RUNTIME_STEP_ABI_ABI_H
#define COLL_RUNTIME_STEP_ABI_ABI_H

#include "runtime/base/codes.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kCollAbiVersion = 3 };

typedef struct CollContext CollContext; /* one rank's state in the runtime */
typedef struct CollRequest CollRequest; /* an operation in flight */

/* Bytes of the memory that `dispatch` describes its tokens' ways in, for `combine`: of `tokens`
 * tokens with `topk` experts each, received in `capacity` rows. What is in it is the runtime's own
 * (tokens/route.h); it is valid until the function returns that made the call. */
static inline int64_t collRouteBytes(int64_t tokens, int64_t topk, int64_t capacity) {
  return 4 * (8 + capacity + tokens * topk);
}

typedef struct CollAbi {
  int32_t version; /* kCollAbiVersion; a step checks it before its first call */
  int32_t reserved;
#define COLL_ABI_FUNCTION(name, parameters) int32_t(*name) parameters;
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION
} CollAbi;

typedef int32_t (*CollEntry)(const CollAbi *abi, CollContext *ctx, void *const *args,
                             void *const *results, void *arena);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* COLL_RUNTIME_STEP_ABI_ABI_H */
