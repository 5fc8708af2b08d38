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

#ifndef COLL_RUNTIME_ABI_H
#define COLL_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kCollAbiVersion = 3 };

typedef struct CollContext CollContext; /* one rank's state in the runtime */
typedef struct CollRequest CollRequest; /* an operation in flight */

/* Element types. Compiled steps give unsigned integers the code of their signed form, and
 * reductions a kind that says how integers are read. u8 is for hosts that say it of the type:
 * there min is umin, max is umax. */
typedef enum CollDtype {
  kCollF32 = 0,
  kCollF64 = 1,
  kCollF16 = 2,
  kCollBf16 = 3,
  kCollI8 = 4,
  kCollI16 = 5,
  kCollI32 = 6,
  kCollI64 = 7,
  kCollBool = 8,     /* one byte, 0 or 1 */
  kCollF8E4M3FN = 9, /* no infinities; overflow is NaN */
  kCollF8E5M2 = 10,
  kCollU8 = 11
} CollDtype;

/* Numbered as the dialect's ReductionKind and Order. */
typedef enum CollReduction {
  kCollSum = 0,
  kCollProd = 1,
  kCollMin = 2,
  kCollMax = 3,
  kCollUmin = 4,
  kCollUmax = 5,
  kCollAvg = 6,
  kCollAnd = 7,
  kCollOr = 8,
  kCollXor = 9
} CollReduction;

/* What contributions of floats narrower than f32 are combined in. Any: partial results of
 * f16 and bf16 may be rounded to the element type where that is faster. F32: every
 * contribution is widened and the result is rounded once; eight-bit floats always are. */
typedef enum CollAccumulation { kCollAccumulateAny = 0, kCollAccumulateF32 = 1 } CollAccumulation;

typedef enum CollOrder { kCollOrderAny = 0, kCollOrderRank = 1 } CollOrder;

/* Status codes, grouped by what must be rebuilt after them. */
typedef enum CollCode {
  kCollOk = 0,
  kCollInvalidCall = 1, /* call: the arguments are wrong; nothing happened */
  kCollUnsupported = 2, /* call: this backend cannot do it */
  kCollLink = 3,        /* link: a connection failed */
  kCollPeer = 4,        /* peer: a rank died or gave up */
  kCollTimeout = 5,     /* communicator: a deadline passed */
  kCollMismatch = 6,    /* communicator: ranks disagree on an operation */
  kCollAborted = 7,     /* communicator: ended because another rank failed */
  kCollDevice = 8,      /* device: it failed or ran out of memory */
  kCollInternal = 9
} CollCode;

/* Bytes of the memory that `dispatch` describes its tokens' ways in, for `combine`: of `tokens`
 * tokens with `topk` experts each, received in `capacity` rows. What is in it is the runtime's own
 * (token_route.h); it is valid until the function returns that made the call. */
static inline int64_t collRouteBytes(int64_t tokens, int64_t topk, int64_t capacity) {
  return 4 * (8 + capacity + tokens * topk);
}

typedef struct CollAbi {
  int32_t version; /* kCollAbiVersion; a step checks it before its first call */
  int32_t reserved;
#define COLL_ABI_FUNCTION(name, parameters) int32_t(*name) parameters;
#include "runtime/abi.def"
#undef COLL_ABI_FUNCTION
} CollAbi;

typedef int32_t (*CollEntry)(const CollAbi *abi, CollContext *ctx, void *const *args,
                             void *const *results, void *arena);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* COLL_RUNTIME_ABI_H */
