// nccl.h - NCCL (libnccl.so.2, 2.19 or later), found when the program runs.
//
// Nothing of NCCL is needed to build: the declarations are this project's own, with the names,
// values and signatures of the library's interface (source: nccl.h, v2.19 to v2.31). The library is
// never unloaded. Tests pass a table of their own (test/support/fakes/nccl.h).
//
// Any call on a non-blocking communicator may return kNcclInProgress; then ncclCommGetAsyncError
// reports when the call has taken effect, or why it failed.

#ifndef COLL_RUNTIME_DL_NCCL_H
#define COLL_RUNTIME_DL_NCCL_H

#include "runtime/base/status.h"
#include "runtime/dl/cuda.h"

#include <climits>
#include <cstddef>
#include <string>
#include <string_view>

namespace coll::rt::dl {

// ncclResult_t
using NcclResult = int;
inline constexpr NcclResult kNcclSuccess = 0;
inline constexpr NcclResult kNcclUnhandledCudaError = 1;
inline constexpr NcclResult kNcclSystemError = 2;
inline constexpr NcclResult kNcclInternalError = 3;
inline constexpr NcclResult kNcclInvalidArgument = 4;
inline constexpr NcclResult kNcclInvalidUsage = 5;
inline constexpr NcclResult kNcclRemoteError = 6;
inline constexpr NcclResult kNcclInProgress = 7;

// ncclDataType_t
inline constexpr int kNcclInt8 = 0;
inline constexpr int kNcclUint8 = 1;
inline constexpr int kNcclInt32 = 2;
inline constexpr int kNcclUint32 = 3;
inline constexpr int kNcclInt64 = 4;
inline constexpr int kNcclUint64 = 5;
inline constexpr int kNcclFloat16 = 6;
inline constexpr int kNcclFloat32 = 7;
inline constexpr int kNcclFloat64 = 8;
inline constexpr int kNcclBfloat16 = 9;
inline constexpr int kNcclFloat8e4m3 = 10; // from 2.24
inline constexpr int kNcclFloat8e5m2 = 11;

// ncclRedOp_t
inline constexpr int kNcclSum = 0;
inline constexpr int kNcclProd = 1;
inline constexpr int kNcclMax = 2;
inline constexpr int kNcclMin = 3;
inline constexpr int kNcclAvg = 4;

inline constexpr int kNcclNoColor = -1;              // NCCL_SPLIT_NOCOLOR
inline constexpr int kNcclUndefined = INT_MIN;       // NCCL_CONFIG_UNDEF_INT
inline constexpr int kNcclWindowSymmetric = 1;       // NCCL_WIN_COLL_SYMMETRIC
inline constexpr size_t kNcclWindowAlignment = 4096; // NCCL_WIN_REQUIRED_ALIGNMENT
// NCCL_VERSION_CODE
inline constexpr int kNcclOldest = 21900;
inline constexpr int kNcclFirstWithFp8 = 22400;
inline constexpr int kNcclFirstWithTags = 23100;

using NcclComm = struct NcclCommTag *;
using NcclWindow = struct NcclWindowTag *;
struct NcclUniqueId {
  char bytes[128] = {};
};

// ncclConfig_t of 2.18. Later libraries read as many bytes as `size` says.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = kNcclOldest;
  int blocking = 0; // the library's default is 1
  int cgaClusterSize = kNcclUndefined;
  int minCtas = kNcclUndefined;
  int maxCtas = kNcclUndefined;
  const char *netName = nullptr;
  int splitShare = kNcclUndefined;
};

// ncclCollConfig_t of 2.31: configures one call. Later libraries read as many bytes as `size` says.
struct NcclCallConfig {
  size_t size = sizeof(NcclCallConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = kNcclFirstWithTags;
  void *extensions = nullptr;
  int minCtas = kNcclUndefined;
  int maxCtas = kNcclUndefined;
  int nvlsCtas = kNcclUndefined;
  int cgaClusterSize = kNcclUndefined;
  const char *algorithms = nullptr;
  int forceAlgorithm = 1;
  int ctaPolicy = kNcclUndefined;
  uint64_t profilerTag = 0; // passed to profilers of ABI v7 with the call; 0: none
};
static_assert(sizeof(NcclCallConfig) == 64);

// Every function: member of the table, symbol of the library, parameters.
// clang-format off
#define COLL_NCCL_FUNCTIONS(X)                                                                     \
  X(getVersion, "ncclGetVersion", (int *version))                                                  \
  X(getUniqueId, "ncclGetUniqueId", (NcclUniqueId *id))                                            \
  X(commInitRankConfig, "ncclCommInitRankConfig", (NcclComm *comm, int ranks, NcclUniqueId id, int rank, NcclConfig *config)) \
  X(commSplit, "ncclCommSplit", (NcclComm comm, int color, int key, NcclComm *made, NcclConfig *config)) \
  X(commDestroy, "ncclCommDestroy", (NcclComm comm))                                               \
  X(commAbort, "ncclCommAbort", (NcclComm comm))                                                   \
  X(commGetAsyncError, "ncclCommGetAsyncError", (NcclComm comm, NcclResult *result))               \
  X(commRegister, "ncclCommRegister", (NcclComm comm, void *data, size_t bytes, void **handle))    \
  X(commDeregister, "ncclCommDeregister", (NcclComm comm, void *handle))                           \
  X(memAlloc, "ncclMemAlloc", (void **data, size_t bytes))                                         \
  X(memFree, "ncclMemFree", (void *data))                                                          \
  X(redOpCreatePreMulSum, "ncclRedOpCreatePreMulSum", (int *op, void *scalar, int dtype, int residence, NcclComm comm)) \
  X(redOpDestroy, "ncclRedOpDestroy", (int op, NcclComm comm))                                     \
  X(allReduce, "ncclAllReduce", (const void *src, void *dst, size_t count, int dtype, int op, NcclComm comm, CudaStream stream)) \
  X(reduce, "ncclReduce", (const void *src, void *dst, size_t count, int dtype, int op, int root, NcclComm comm, CudaStream stream)) \
  X(broadcast, "ncclBroadcast", (const void *src, void *dst, size_t count, int dtype, int root, NcclComm comm, CudaStream stream)) \
  X(reduceScatter, "ncclReduceScatter", (const void *src, void *dst, size_t count, int dtype, int op, NcclComm comm, CudaStream stream)) \
  X(allGather, "ncclAllGather", (const void *src, void *dst, size_t count, int dtype, NcclComm comm, CudaStream stream)) \
  X(send, "ncclSend", (const void *src, size_t count, int dtype, int peer, NcclComm comm, CudaStream stream)) \
  X(recv, "ncclRecv", (void *dst, size_t count, int dtype, int peer, NcclComm comm, CudaStream stream)) \
  X(groupStart, "ncclGroupStart", ())                                                              \
  X(groupEnd, "ncclGroupEnd", ())

// Optional: null if the library is too old: windows from 2.27, allToAll from 2.28, calls with a
// configuration from 2.31.
#define COLL_NCCL_OPTIONAL_FUNCTIONS(X)                                                            \
  X(windowRegister, "ncclCommWindowRegister", (NcclComm comm, void *data, size_t bytes, NcclWindow *window, int flags)) \
  X(windowDeregister, "ncclCommWindowDeregister", (NcclComm comm, NcclWindow window))              \
  X(allToAll, "ncclAlltoAll", (const void *src, void *dst, size_t count, int dtype, NcclComm comm, CudaStream stream)) \
  X(allReduceConfig, "ncclAllReduceConfig", (const void *src, void *dst, size_t count, int dtype, int op, NcclComm comm, CudaStream stream, const NcclCallConfig *config)) \
  X(reduceConfig, "ncclReduceConfig", (const void *src, void *dst, size_t count, int dtype, int op, int root, NcclComm comm, CudaStream stream, const NcclCallConfig *config)) \
  X(broadcastConfig, "ncclBroadcastConfig", (const void *src, void *dst, size_t count, int dtype, int root, NcclComm comm, CudaStream stream, const NcclCallConfig *config)) \
  X(reduceScatterConfig, "ncclReduceScatterConfig", (const void *src, void *dst, size_t count, int dtype, int op, NcclComm comm, CudaStream stream, const NcclCallConfig *config)) \
  X(allGatherConfig, "ncclAllGatherConfig", (const void *src, void *dst, size_t count, int dtype, NcclComm comm, CudaStream stream, const NcclCallConfig *config)) \
  X(allToAllConfig, "ncclAlltoAllConfig", (const void *src, void *dst, size_t count, int dtype, NcclComm comm, CudaStream stream, const NcclCallConfig *config))
// clang-format on

struct Nccl {
#define COLL_NCCL_MEMBER(member, symbol, parameters) NcclResult(*member) parameters = nullptr;
  COLL_NCCL_FUNCTIONS(COLL_NCCL_MEMBER)
  COLL_NCCL_OPTIONAL_FUNCTIONS(COLL_NCCL_MEMBER)
#undef COLL_NCCL_MEMBER
  const char *(*getErrorString)(NcclResult result) = nullptr;
  const char *(*getLastError)(NcclComm comm) = nullptr;
  int version = 0; // NCCL_VERSION_CODE: 22809 is 2.28.9
};

// The library, loaded at the first call, from the file that COLL_NCCL names. kCollUnsupported, with
// the reason, if there is none or it is too old. Any thread may call it.
Result<const Nccl *> nccl();

// "2.28.9"
std::string ncclVersionName(int version);

// Ok for kNcclSuccess and kNcclInProgress. Otherwise the code says what has to be rebuilt, and the
// message has the call, NCCL's text for the error and its last message. `comm` may be null.
Status ncclStatus(const Nccl &nccl, NcclResult result, std::string_view call,
                  NcclComm comm = nullptr);

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_NCCL_H
