/* moe_c.h - MoeBuffer (buffer.h) for programs in C, and in languages that call C.
 *
 * libcoll-moe.so exports these functions and nothing else. Structures correspond to those of
 * moe.h, low_latency.h and buffer.h, whose contracts hold; this header says what differs.
 *
 * Functions return a CollCode. If it is not kCollOk, coll_moe_last_error() says why, in the thread
 * that made the call. Pointers to data are GPU memory unless a comment says host memory. Streams
 * and events are CUstream and CUevent. A field that is zero has its default.
 */

#ifndef COLL_RUNTIME_EXCHANGE_MOE_MOE_C_H
#define COLL_RUNTIME_EXCHANGE_MOE_MOE_C_H

#include "runtime/base/codes.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kCollMoeVersion = 2 }; /* of structures and functions */

typedef struct CollMoe CollMoe;             /* a buffer */
typedef struct CollMoeHandle CollMoeHandle; /* the result of counting in a dispatch (MoeHandle) */

typedef struct CollMoeShape {
  int64_t maxTokens, hidden;
  int32_t numTopk, numExperts;
} CollMoeShape;

typedef struct CollMoeOptions {
  int32_t rank, numRanks;
  int64_t nvlBytes, netBytes;
  int32_t lowLatency;
  int32_t explicitlyDestroy; /* 0: coll_moe_free() destroys the buffer */
  CollMoeShape lowLatencyShape;
  int32_t device, nodeSize;
  int64_t timeoutUs, netChunkBytes;
  const char *transport; /* between nodes: "tcp" or "verbs"; environment variables configure it */
  const char *secret;    /* for the transport: at least 16 characters, the same on all ranks; null:
                            cards are trusted */
} CollMoeOptions;

typedef struct CollMoeInfo {
  int32_t isAvailable, isInternodeAvailable;
  int32_t numNetRanks, netRank, nvlRank, device;
  int64_t netBytesSent;
  void *commStream;
} CollMoeInfo;

typedef struct CollMoeOrder {
  void *compute;         /* stream */
  void *previous, *done; /* events */
} CollMoeOrder;

typedef struct CollMoeRouting {
  const int64_t *topkIdx;
  int64_t numTokens;
  int32_t numTopk, numExperts;
} CollMoeRouting;

typedef struct CollMoeLayout {
  int32_t *tokensPerRank, *tokensPerNetRank, *tokensPerExpert;
  uint8_t *isTokenInRank;
} CollMoeLayout;

typedef struct CollMoeTokens {
  const void *x;
  int64_t hidden;
  int32_t dtype; /* CollDtype */
  int32_t reserved;
  const float *topkWeights, *scales;
  int64_t numScales, scaleTokenStride, scaleStride;
} CollMoeTokens;

typedef struct CollMoeDispatchOptions {
  int32_t numSms;
  int32_t expertAlignment;
  int64_t worstCaseTokens;
} CollMoeDispatchOptions;

/* The caller owns the handle, and frees it with coll_moe_free_handle(). */
typedef struct CollMoeReceived {
  CollMoeHandle *handle;
  int64_t numReceived; /* -1: only the GPU knows it, as rankPrefix's last entry for this rank */
  int64_t numRows; /* of the arrays: numReceived, or the worst case as far as the buffer has room */
  int64_t numRelayed;  /* over the network, for ranks of this node; -1: one node, or a worst case */
  int32_t numChannels; /* of channelPrefix */
  int32_t reserved;
  const void *x;
  const float *scales;
  const int64_t *topkIdx;
  const float *topkWeights;
  const int32_t *sourceIdx, *rankPrefix, *channelPrefix, *sendHead;
  const int32_t *tokensPerExpert; /* host memory, as long as the handle exists; null: not known */
} CollMoeReceived;

typedef struct CollMoeCombine {
  const void *x;
  int64_t numRows, hidden;
  const float *topkWeights;
  int32_t numTopk, numSms;
  const void *bias[2];
  void *out;
  float *outWeights;
} CollMoeCombine;

typedef struct CollMoeLowLatencyRows {
  void *x;
  float *scales;
  int32_t *counts;
  uint64_t *ranges;
  uint32_t *sources;
} CollMoeLowLatencyRows;

typedef struct CollMoeLowLatencyDispatch {
  CollMoeRouting routing;
  const void *x;
  int32_t dtype, numSms;
  int32_t *expertTokens;
} CollMoeLowLatencyDispatch;

typedef struct CollMoeLowLatencyCombine {
  CollMoeRouting routing;
  const void *x;
  const float *topkWeights;
  int32_t log, numSms;
  void *out;
} CollMoeLowLatencyCombine;

/* --- life */

int32_t coll_moe_version(void);
const char *coll_moe_last_error(void);

int32_t coll_moe_create(const CollMoeOptions *options, CollMoe **buffer);
/* Frees the buffer, and destroys it first if that was not done. Null does nothing. Free all handles
 * before. */
void coll_moe_free(CollMoe *buffer);
/* A rank's card, for the other ranks: plain bytes in host memory. */
int64_t coll_moe_card_bytes(void);
int32_t coll_moe_card(const CollMoe *buffer, void *card);
/* `cards`: the cards of all ranks, in the order of ranks, of coll_moe_card_bytes() bytes each. */
int32_t coll_moe_sync(CollMoe *buffer, const void *cards, int32_t numCards);
int32_t coll_moe_destroy(CollMoe *buffer);
int32_t coll_moe_check(CollMoe *buffer);
void coll_moe_abort(CollMoe *buffer);
int32_t coll_moe_info(const CollMoe *buffer, CollMoeInfo *info);
int32_t coll_moe_local_buffer(const CollMoe *buffer, int32_t dtype, int64_t offset, int32_t useNet,
                              void **data, int64_t *numElems);

/* Returns 0 or, with `isGlobal`, the rank's number in its node. -1 if `buffer` is null. */
int32_t coll_moe_root_net_rank(const CollMoe *buffer, int32_t isGlobal);
/* The handle by which another process's driver opens this rank's memory. */
enum { kCollMoeIpcHandleBytes = 64, kCollMoeNetIdBytes = 128 };
int32_t coll_moe_local_ipc_handle(const CollMoe *buffer, void *handle);
/* The address by which other nodes connect to this rank. kCollUnsupported if there is one node. */
int32_t coll_moe_local_net_id(const CollMoe *buffer, void *id);

/* --- the normal mode */

int32_t coll_moe_dispatch_layout(CollMoe *buffer, const CollMoeRouting *routing,
                                 const CollMoeLayout *layout, const CollMoeOrder *order);
/* Returns 0 if no call accepts these arguments. */
int64_t coll_moe_handle_bytes(int64_t numTokens, int32_t numRanks, int32_t numSms);
int32_t coll_moe_dispatch(CollMoe *buffer, const CollMoeTokens *tokens,
                          const CollMoeRouting *routing, const CollMoeLayout *layout,
                          const CollMoeDispatchOptions *options, void *handleMemory,
                          const CollMoeOrder *order, CollMoeReceived *received);
int32_t coll_moe_dispatch_again(CollMoe *buffer, const CollMoeTokens *tokens,
                                const CollMoeHandle *handle, int32_t numSms,
                                const CollMoeOrder *order, CollMoeReceived *received);
void *coll_moe_combine_input(const CollMoe *buffer);
int32_t coll_moe_combine(CollMoe *buffer, const CollMoeCombine *combine,
                         const CollMoeHandle *handle, const CollMoeOrder *order);
void coll_moe_free_handle(CollMoeHandle *handle);

/* --- the low-latency mode. `hook` is host memory; if it is null, the call also receives. */

int64_t coll_moe_low_latency_bytes(const CollMoeShape *shape, int32_t numRanks);
int64_t coll_moe_low_latency_host_bytes(const CollMoeShape *shape, int32_t numRanks,
                                        int32_t nodeSize);
int32_t coll_moe_low_latency_dispatch(CollMoe *buffer, const CollMoeLowLatencyDispatch *call,
                                      const CollMoeLowLatencyRows *rows, const CollMoeOrder *order,
                                      int64_t *hook);
int32_t coll_moe_low_latency_combine(CollMoe *buffer, const CollMoeLowLatencyCombine *call,
                                     const CollMoeLowLatencyRows *rows, const CollMoeOrder *order,
                                     int64_t *hook);
int32_t coll_moe_low_latency_receive(CollMoe *buffer, int64_t hook, const CollMoeOrder *order);
int32_t coll_moe_low_latency_clean(CollMoe *buffer, const CollMoeShape *shape,
                                   const CollMoeOrder *order);
int32_t coll_moe_low_latency_combine_input(const CollMoe *buffer, void **data, int64_t *numElems);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* COLL_RUNTIME_EXCHANGE_MOE_MOE_C_H */
