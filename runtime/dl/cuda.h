// cuda.h - the CUDA driver (libcuda.so.1), found when the program runs.
//
// Nothing of CUDA is needed to build: the declarations are this project's own, with the names,
// values and signatures of the driver API. The library is never unloaded. Tests pass a table of
// their own (test/support/fakes/cuda.h).
//
// **While a kernel waits for the network.** On an H100 with CUDA 13.0, while a kernel waited for a
// word of host memory, the following calls of another thread
//
//  - ran: asynchronous copies between pinned and GPU memory on a stream of their own (4 MiB
//    in 0.13 ms), queries of events, and, in 0.01 to 10 ms, memAlloc, memHostAlloc,
//    memHostRegister, eventCreate, streamCreate;
//  - waited until the kernel ended: memFree, memFreeHost, memHostUnregister, loading a module,
//    and the first launch of a kernel if the driver loads lazily. Copies of other threads
//    waited while a module was loaded.
//
// So a thread that drives the network frees nothing, and copies only while no module is loaded:
// CUDA_MODULE_LOADING=EAGER avoids first launches (see lazyLoading()), but does not help programs
// that load modules themselves. The UNPACK and PACK paths call nothing of CUDA while messages move.

#ifndef COLL_RUNTIME_DL_CUDA_H
#define COLL_RUNTIME_DL_CUDA_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coll::rt::dl {

// CUresult. Only the values that the code distinguishes.
using CudaResult = int;
inline constexpr CudaResult kCudaSuccess = 0;
inline constexpr CudaResult kCudaInvalidValue = 1;
inline constexpr CudaResult kCudaOutOfMemory = 2;
inline constexpr CudaResult kCudaInvalidContext = 201;
inline constexpr CudaResult kCudaNoBinary = 209;
inline constexpr CudaResult kCudaUnsupportedPtx = 222;
inline constexpr CudaResult kCudaNotFound = 500;
inline constexpr CudaResult kCudaNotReady = 600;
inline constexpr CudaResult kCudaPeerAccessAlready = 704;

using CudaDevice = int;       // CUdevice
using CudaAddress = uint64_t; // CUdeviceptr
using CudaContext = struct CudaContextTag *;
using CudaStream = struct CudaStreamTag *;
using CudaEvent = struct CudaEventTag *;
using CudaModule = struct CudaModuleTag *;
using CudaFunction = struct CudaFunctionTag *;
using CudaGraph = struct CudaGraphTag *;
using CudaGraphExec = struct CudaGraphExecTag *;

// CUDA_MEMCPY2D: `rows` rows of `bytes` bytes of GPU memory; with kCudaMemoryUnified also of pinned
// memory.
struct CudaCopy2D {
  size_t srcX = 0, srcY = 0;
  unsigned srcKind = 2; // CU_MEMORYTYPE_DEVICE
  const void *srcHost = nullptr;
  CudaAddress src = 0;
  void *srcArray = nullptr;
  size_t srcPitch = 0;
  size_t dstX = 0, dstY = 0;
  unsigned dstKind = 2;
  void *dstHost = nullptr;
  CudaAddress dst = 0;
  void *dstArray = nullptr;
  size_t dstPitch = 0;
  size_t bytes = 0, rows = 0;
};

// CUipcMemHandle
struct CudaIpcHandle {
  char bytes[64] = {};
};

// Physical memory that can be mapped at any address: CUmemGenericAllocationHandle, and
// CUmemLocation, CUmemAllocationProp, CUmemAccessDesc for GPU memory.
using CudaMemory = unsigned long long;
struct CudaLocation {
  int type = 1; // CU_MEM_LOCATION_TYPE_DEVICE
  int id = 0;
};
struct CudaMemoryProperties {
  int type = 1;        // CU_MEM_ALLOCATION_TYPE_PINNED
  int handleTypes = 1; // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
  CudaLocation location;
  void *win32 = nullptr;
  unsigned char compression = 0, rdma = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};
struct CudaAccess {
  CudaLocation location;
  int flags = 3; // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};

// CUdevice_attribute
inline constexpr int kCudaComputeMajor = 75;
inline constexpr int kCudaComputeMinor = 76;
inline constexpr int kCudaMultiprocessors = 16;
inline constexpr int kCudaHostPointerForRegistered = 91;
inline constexpr int kCudaVmmSupported = 102;
inline constexpr int kCudaVmmByDescriptor = 103;
inline constexpr int kCudaDmabufSupported = 124;
// CUdevice_P2PAttribute: between GPUs over NVLink.
inline constexpr int kCudaPeerAtomics = 3;
// CUpointer_attribute
inline constexpr int kCudaPointerMemoryType = 2;
inline constexpr int kCudaPointerHostAddress = 4;
inline constexpr int kCudaPointerIsManaged = 8;
inline constexpr int kCudaPointerOrdinal = 9;
// CUmemorytype
inline constexpr unsigned kCudaMemoryHost = 1;
inline constexpr unsigned kCudaMemoryDevice = 2;
inline constexpr unsigned kCudaMemoryUnified = 4;
// Flags: CU_MEMHOSTALLOC_*, CU_MEMHOSTREGISTER_*, CU_STREAM_*, CU_EVENT_*
inline constexpr unsigned kCudaHostPortable = 1;
inline constexpr unsigned kCudaHostMapped = 2;
inline constexpr unsigned kCudaStreamNonBlocking = 1;
inline constexpr int kCudaHighestPriority = -100; // of streams; the driver takes its highest
// CU_STREAM_WAIT_VALUE_GEQ: waits until (int32_t)(word - value) >= 0.
inline constexpr unsigned kCudaWaitGeq = 0;
inline constexpr unsigned kCudaEventNoTiming = 2;
// CUjit_option, CUfunction_attribute
inline constexpr int kCudaJitErrorLog = 5, kCudaJitErrorLogBytes = 6;
inline constexpr int kCudaMaxDynamicShared = 8;
// CUstreamCaptureMode, CUstreamCaptureStatus, default streams
inline constexpr int kCudaCaptureThreadLocal = 1;
inline constexpr int kCudaCaptureRelaxed = 2;
inline constexpr int kCudaNotCapturing = 0;
// CUmemRangeHandleType, CUmemAllocationHandleType, CUipcMem_flags, CUmoduleLoadingMode
inline constexpr int kCudaHandleDmabuf = 1;
inline constexpr int kCudaHandleDescriptor = 1;
inline constexpr unsigned kCudaIpcLazyPeerAccess = 1;
inline constexpr int kCudaLoadingEager = 1;

// Every function: member of the table, symbol of the library, parameters.
// clang-format off
#define COLL_CUDA_FUNCTIONS(X)                                                                     \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(getErrorName, "cuGetErrorName", (CudaResult result, const char **name))                        \
  X(getErrorString, "cuGetErrorString", (CudaResult result, const char **text))                    \
  X(deviceGetCount, "cuDeviceGetCount", (int *count))                                              \
  X(deviceGet, "cuDeviceGet", (CudaDevice *device, int ordinal))                                   \
  X(deviceGetName, "cuDeviceGetName", (char *name, int bytes, CudaDevice device))                  \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t *bytes, CudaDevice device))                     \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, CudaDevice device))    \
  X(deviceGetPciBusId, "cuDeviceGetPCIBusId", (char *id, int bytes, CudaDevice device))            \
  X(primaryContextRetain, "cuDevicePrimaryCtxRetain", (CudaContext *context, CudaDevice device))   \
  X(primaryContextRelease, "cuDevicePrimaryCtxRelease_v2", (CudaDevice device))                    \
  X(contextSetCurrent, "cuCtxSetCurrent", (CudaContext context))                                   \
  X(contextPush, "cuCtxPushCurrent_v2", (CudaContext context))                                     \
  X(contextPop, "cuCtxPopCurrent_v2", (CudaContext *context))                                      \
  X(contextGetDevice, "cuCtxGetDevice", (CudaDevice *device))                                      \
  X(contextSynchronize, "cuCtxSynchronize", ())                                                    \
  X(deviceCanAccessPeer, "cuDeviceCanAccessPeer", (int *can, CudaDevice device, CudaDevice peer))  \
  X(contextEnablePeerAccess, "cuCtxEnablePeerAccess", (CudaContext peer, unsigned flags))          \
  X(memGetAddressRange, "cuMemGetAddressRange_v2", (CudaAddress *base, size_t *bytes, CudaAddress address)) \
  X(ipcGetMemHandle, "cuIpcGetMemHandle", (CudaIpcHandle *handle, CudaAddress address))            \
  X(ipcOpenMemHandle, "cuIpcOpenMemHandle_v2", (CudaAddress *address, CudaIpcHandle handle, unsigned flags)) \
  X(ipcCloseMemHandle, "cuIpcCloseMemHandle", (CudaAddress address))                               \
  X(memAlloc, "cuMemAlloc_v2", (CudaAddress *address, size_t bytes))                               \
  X(memFree, "cuMemFree_v2", (CudaAddress address))                                                \
  X(memHostAlloc, "cuMemHostAlloc", (void **data, size_t bytes, unsigned flags))                   \
  X(memFreeHost, "cuMemFreeHost", (void *data))                                                    \
  X(memHostRegister, "cuMemHostRegister_v2", (void *data, size_t bytes, unsigned flags))           \
  X(memHostUnregister, "cuMemHostUnregister", (void *data))                                        \
  X(memHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", (CudaAddress *address, void *data, unsigned flags)) \
  X(pointerGetAttribute, "cuPointerGetAttribute", (void *value, int attribute, CudaAddress address)) \
  X(memcpyAsync, "cuMemcpyAsync", (CudaAddress to, CudaAddress from, size_t bytes, CudaStream stream)) \
  X(memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CudaAddress to, const void *from, size_t bytes, CudaStream stream)) \
  X(memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *to, CudaAddress from, size_t bytes, CudaStream stream)) \
  X(memsetD8Async, "cuMemsetD8Async", (CudaAddress to, unsigned char value, size_t bytes, CudaStream stream)) \
  X(memsetD16Async, "cuMemsetD16Async", (CudaAddress to, unsigned short value, size_t count, CudaStream stream)) \
  X(memsetD32Async, "cuMemsetD32Async", (CudaAddress to, unsigned value, size_t count, CudaStream stream)) \
  X(memset2DD32Async, "cuMemsetD2D32Async", (CudaAddress to, size_t pitch, unsigned value, size_t width, size_t rows, CudaStream stream)) \
  X(memGetInfo, "cuMemGetInfo_v2", (size_t *free, size_t *total))                                  \
  X(moduleLoad, "cuModuleLoadDataEx", (CudaModule *module, const void *image, unsigned numOptions, int *options, void **values)) \
  X(moduleUnload, "cuModuleUnload", (CudaModule module))                                           \
  X(moduleGetFunction, "cuModuleGetFunction", (CudaFunction *function, CudaModule module, const char *name)) \
  X(functionSetAttribute, "cuFuncSetAttribute", (CudaFunction function, int attribute, int value)) \
  X(launchKernel, "cuLaunchKernel", (CudaFunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, CudaStream stream, void **parameters, void **extra)) \
  X(streamCreate, "cuStreamCreate", (CudaStream *stream, unsigned flags))                          \
  X(streamCreateWithPriority, "cuStreamCreateWithPriority", (CudaStream *stream, unsigned flags, int priority)) \
  X(streamDestroy, "cuStreamDestroy_v2", (CudaStream stream))                                      \
  X(memcpy2DAsync, "cuMemcpy2DAsync_v2", (const CudaCopy2D *copy, CudaStream stream))              \
  X(streamSynchronize, "cuStreamSynchronize", (CudaStream stream))                                 \
  X(streamWaitEvent, "cuStreamWaitEvent", (CudaStream stream, CudaEvent event, unsigned flags))    \
  X(streamBeginCapture, "cuStreamBeginCapture_v2", (CudaStream stream, int mode))                  \
  X(streamEndCapture, "cuStreamEndCapture", (CudaStream stream, CudaGraph *graph))                 \
  X(streamIsCapturing, "cuStreamIsCapturing", (CudaStream stream, int *state))                     \
  X(threadExchangeCaptureMode, "cuThreadExchangeStreamCaptureMode", (int *mode))                   \
  X(graphInstantiate, "cuGraphInstantiateWithFlags", (CudaGraphExec *exec, CudaGraph graph, unsigned long long flags)) \
  X(graphLaunch, "cuGraphLaunch", (CudaGraphExec exec, CudaStream stream))                         \
  X(graphExecDestroy, "cuGraphExecDestroy", (CudaGraphExec exec))                                  \
  X(graphDestroy, "cuGraphDestroy", (CudaGraph graph))                                             \
  X(eventCreate, "cuEventCreate", (CudaEvent *event, unsigned flags))                              \
  X(eventDestroy, "cuEventDestroy_v2", (CudaEvent event))                                          \
  X(eventRecord, "cuEventRecord", (CudaEvent event, CudaStream stream))                            \
  X(eventQuery, "cuEventQuery", (CudaEvent event))                                                 \
  X(eventElapsedTime, "cuEventElapsedTime", (float *milliseconds, CudaEvent begin, CudaEvent end))

// Optional: null if the driver is too old to have them.
#define COLL_CUDA_OPTIONAL_FUNCTIONS(X)                                                            \
  X(memGetHandleForAddressRange, "cuMemGetHandleForAddressRange", (void *handle, CudaAddress address, size_t bytes, int handleType, unsigned long long flags)) \
  X(deviceGetPeerAttribute, "cuDeviceGetP2PAttribute", (int *value, int attribute, CudaDevice device, CudaDevice peer)) \
  X(streamGetId, "cuStreamGetId", (CudaStream stream, unsigned long long *id))                     \
  X(moduleGetLoadingMode, "cuModuleGetLoadingMode", (int *mode))                                   \
  X(streamWaitValue, "cuStreamWaitValue32_v2", (CudaStream stream, CudaAddress word, uint32_t value, unsigned flags)) \
  X(memGetGranularity, "cuMemGetAllocationGranularity", (size_t *bytes, const CudaMemoryProperties *properties, int option)) \
  X(memCreate, "cuMemCreate", (CudaMemory *memory, size_t bytes, const CudaMemoryProperties *properties, unsigned long long flags)) \
  X(memRelease, "cuMemRelease", (CudaMemory memory))                                               \
  X(memAddressReserve, "cuMemAddressReserve", (CudaAddress *address, size_t bytes, size_t alignment, CudaAddress wish, unsigned long long flags)) \
  X(memAddressFree, "cuMemAddressFree", (CudaAddress address, size_t bytes))                       \
  X(memMap, "cuMemMap", (CudaAddress address, size_t bytes, size_t offset, CudaMemory memory, unsigned long long flags)) \
  X(memUnmap, "cuMemUnmap", (CudaAddress address, size_t bytes))                                   \
  X(memSetAccess, "cuMemSetAccess", (CudaAddress address, size_t bytes, const CudaAccess *access, size_t count)) \
  X(memExport, "cuMemExportToShareableHandle", (void *handle, CudaMemory memory, int type, unsigned long long flags)) \
  X(memImport, "cuMemImportFromShareableHandle", (CudaMemory *memory, void *handle, int type))
// clang-format on

struct Cuda {
#define COLL_CUDA_MEMBER(member, symbol, parameters) CudaResult(*member) parameters = nullptr;
  COLL_CUDA_FUNCTIONS(COLL_CUDA_MEMBER)
  COLL_CUDA_OPTIONAL_FUNCTIONS(COLL_CUDA_MEMBER)
#undef COLL_CUDA_MEMBER
};

// The driver, loaded and initialised at the first call, from the library that COLL_CUDA names.
// kCollUnsupported, with the reason, if there is none or no GPU. Any thread may call it.
Result<const Cuda *> cuda();

// Ok, or kCollDevice with the call, CUDA's name of the error and its text.
Status cudaStatus(const Cuda &cuda, CudaResult result, std::string_view call);

struct CudaDeviceInfo {
  int ordinal = 0;
  std::string name;
  std::string pciBusId; // "0000:1b:00.0", as in /sys/bus/pci/devices
  uint64_t memoryBytes = 0;
  int computeMajor = 0, computeMinor = 0;
  int multiprocessors = 0;
  bool dmabuf = false; // its memory can be exported as a dmabuf
  // The GPU uses registered host memory at the host's own address.
  bool sameHostPointer = false;
};

// In the order of ordinals, restricted by CUDA_VISIBLE_DEVICES.
Result<std::vector<CudaDeviceInfo>> cudaDevices(const Cuda &cuda);

// What a pointer points to. Memory that CUDA does not know is host memory.
struct CudaPointerInfo {
  bool device = false;  // memory of a GPU, which the CPU cannot touch
  bool managed = false; // migrates; both can touch it
  int ordinal = -1;     // of the GPU that owns it or registered it; -1: none
  void *host = nullptr; // the CPU's address; null if `device`
};
CudaPointerInfo cudaPointerInfo(const Cuda &cuda, const void *data);

// A file descriptor of the dmabuf that holds [data, data + bytes), and the offset of `data` in it.
// The caller closes it. kCollUnsupported if the driver cannot make one.
struct CudaDmabuf {
  int fd = -1;
  uint64_t offset = 0;
};
Result<CudaDmabuf> cudaExportDmabuf(const Cuda &cuda, const void *data, uint64_t bytes);

// Whether the driver loads kernels at their first launch (its default): a launch can then wait for
// running kernels. False if the driver does not report it.
bool lazyLoading(const Cuda &cuda);

// Makes `context` current on this thread while the object lives.
class CudaScope {
public:
  CudaScope(const Cuda &cuda, CudaContext context);
  ~CudaScope();
  CudaScope(const CudaScope &) = delete;
  CudaScope &operator=(const CudaScope &) = delete;
  const Status &status() const { return status_; }

private:
  const Cuda &cuda_;
  Status status_;
};

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_CUDA_H
