/* backend_plugin.h - a communication backend from outside of coll, as a shared library.
 *
 *   coll-run step.mlir --ranks=4 --backend=plugin:/path/of/libmine.so
 *
 * The library exports one function, coll_backend_plugin(), which returns a table of functions.
 * coll checks a call before it passes it to the plugin, so a plugin checks only what involves the
 * peers: that all members of a group make the same call. Buffers are host memory.
 *
 * Structs begin with their size. Later versions only add fields at the end, so compare the size
 * before you read a field that is newer than ABI 1. Dtypes are values of coll_dtype, and results
 * are values of coll_code (both in coll.h): 0 is success. No exception may leave a function.
 *
 * Threads. An endpoint, its groups and its requests belong to one thread at a time. join() and
 * abort() may be called from any thread.
 *
 * Failure. An operation that fails, fails on every rank that waits for it; the first failure of
 * any rank ends the job, so that no rank waits for ever. No later operation succeeds.
 */

#ifndef COLL_BACKEND_PLUGIN_H
#define COLL_BACKEND_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { COLL_BACKEND_ABI = 1 };

/* n is the number of members of the group. Counts are in elements, and never negative. */
typedef enum coll_call_kind {
  COLL_CALL_INIT = 0,           /* the members meet; no buffers */
  COLL_CALL_ALL_REDUCE = 1,     /* src[count], dst[count] */
  COLL_CALL_REDUCE = 2,         /* the root's dst is the result, every other one is its own src */
  COLL_CALL_BROADCAST = 3,      /* dst[count] is the root's src */
  COLL_CALL_ALL_GATHER = 4,     /* src[outer][count], dst[outer][n][count] */
  COLL_CALL_GATHER = 5,         /* the same; dst is zero where the rank is not the root */
  COLL_CALL_SCATTER = 6,        /* the root's src[outer][n][count], dst[outer][count] */
  COLL_CALL_REDUCE_SCATTER = 7, /* src[outer][n][count], dst[outer][count] */
  COLL_CALL_ALL_TO_ALL = 8,     /* src[outer][n][count], dst[dst_outer][n][dst_count] */
  COLL_CALL_PERMUTE = 9,        /* src[count] of pair {source, target}; zero for no target */
  COLL_CALL_BARRIER = 11,       /* no buffers */
  COLL_CALL_SEND = 12,          /* src[count] to position peer; a rendezvous */
  COLL_CALL_RECV = 13           /* dst[count] from position peer, with the same tag */
} coll_call_kind;

typedef enum coll_reduction {
  COLL_SUM = 0,
  COLL_PROD = 1,
  COLL_MIN = 2, /* NaN if an operand is NaN */
  COLL_MAX = 3,
  COLL_UMIN = 4, /* of integers, read as unsigned */
  COLL_UMAX = 5,
  COLL_AVG = 6,
  COLL_AND = 7,
  COLL_OR = 8,
  COLL_XOR = 9
} coll_reduction;

/* dst is the same address as src, or does not overlap it. */
typedef struct coll_backend_call {
  size_t struct_size;
  int32_t kind;
  int32_t dtype;
  int32_t reduction;
  int32_t widens;     /* 1: narrow floats are combined in f32 and rounded once */
  int32_t rank_order; /* 1: contributions are combined in the order of the ranks */
  int32_t root, peer; /* positions in the group */
  int32_t num_pairs;
  const int32_t *pairs; /* num_pairs x {source, target}, until the request was waited for */
  int64_t tag;
  const void *src;
  void *dst;
  int64_t outer, count, dst_outer, dst_count;
  const char *location; /* "train.py:12:3", for messages; may be empty */
} coll_backend_call;

typedef struct coll_backend_job {
  size_t struct_size;
  int32_t num_ranks;
  int64_t timeout_us; /* longest wait for one operation */
  /* world_size 0: all ranks are in this process. Otherwise this process has only rank `rank`. */
  int32_t rank, world_size;
  const char *bootstrap; /* host:port of rank 0 */
  const char *secret;    /* known to all processes of the job */
} coll_backend_job;

/* A function that fails writes the reason here, as a string that ends with a zero. */
typedef struct coll_backend_failure {
  size_t struct_size;
  char message[1024];
} coll_backend_failure;

/* A pointer may be null only where a comment says so. */
typedef struct coll_backend_functions {
  size_t struct_size;
  const char *name; /* "mine", for messages */

  int32_t (*create)(const coll_backend_job *job, void **backend, coll_backend_failure *failure);
  void (*destroy)(void *backend);
  /* Whether the backend takes calls like this one, whatever their buffers. The function may be
   * null: the backend then takes all calls. */
  int32_t (*supports)(void *backend, const coll_backend_call *call, coll_backend_failure *failure);

  /* Creates a rank's view of the job; called once for each rank of this process. */
  int32_t (*join)(void *backend, int32_t rank, void **endpoint, coll_backend_failure *failure);
  void (*quit)(void *endpoint);
  /* A stretch of the program begins or ends. leave() ends all requests in flight: no buffer is
   * used afterwards. Peers that wait for a rank that has left fail. */
  void (*enter)(void *endpoint);
  void (*leave)(void *endpoint);
  /* Fails the job; `cause` reaches every rank that waits. */
  void (*abort)(void *endpoint, int32_t code, const char *cause);
  /* Success, or why no further operation can succeed. Does not block. */
  int32_t (*health)(void *endpoint, coll_backend_failure *failure);

  /* Creates the rank's membership of a group, in which its own rank is ranks[position]. Does not
   * communicate. */
  int32_t (*open_group)(void *endpoint, const int32_t *ranks, int32_t num_ranks, int32_t position,
                        void **group, coll_backend_failure *failure);
  void (*close_group)(void *group);
  /* Does not block. The plugin owns the buffers until the request was waited for. */
  int32_t (*start)(void *group, const coll_backend_call *call, void **request,
                   coll_backend_failure *failure);
  /* Blocks until the request is complete, and ends it, even if it failed. */
  int32_t (*wait)(void *endpoint, void *request, coll_backend_failure *failure);
  /* Returns 1 if wait() would return at once. */
  int32_t (*test)(void *endpoint, void *request);
} coll_backend_functions;

/* The function that the library exports. It returns null if it does not support this ABI. The
 * table lives as long as the process. */
typedef const coll_backend_functions *(*coll_backend_plugin_function)(uint32_t abi);
__attribute__((visibility("default"))) const coll_backend_functions *
coll_backend_plugin(uint32_t abi);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* COLL_BACKEND_PLUGIN_H */
