/* codes.h - element types, reductions and status codes, which all layers share.
 *
 * Plain C, since compiled steps and C programs use the same numbers (runtime/step/abi/abi.h). The
 * values are part of the ABI: they are never renumbered.
 */

#ifndef COLL_RUNTIME_BASE_CODES_H
#define COLL_RUNTIME_BASE_CODES_H

/* Element types. In compiled steps an unsigned integer has the code of its signed form, and the
 * reduction says how integers are read. u8 is for hosts whose types say so: for u8, min means umin
 * and max means umax. */
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

/* The type in which floats narrower than f32 are combined. Any: partial results of f16 and bf16
 * may be rounded to the element type if that is faster. F32: every contribution is widened and the
 * result is rounded once; eight-bit floats are always combined in this way. */
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

#endif /* COLL_RUNTIME_BASE_CODES_H */
