#include "runtime/dl/cuda.h"

#include "runtime/base/env.h"

#include <dlfcn.h>
#include <unistd.h>

namespace coll::rt::dl {

namespace {

Status unusable(const std::string &reason) { return {kCollUnsupported, "no CUDA here: " + reason}; }

// Fills the table. The library stays loaded: CUDA does not survive being unloaded.
Status resolve(void *library, Cuda &cuda) {
#define COLL_CUDA_REQUIRED(member, symbol, parameters)                                             \
  cuda.member = reinterpret_cast<CudaResult(*) parameters>(dlsym(library, symbol));                \
  if (!cuda.member)                                                                                \
    return unusable("the driver has no " symbol ", it is too old");
#define COLL_CUDA_OPTIONAL(member, symbol, parameters)                                             \
  cuda.member = reinterpret_cast<CudaResult(*) parameters>(dlsym(library, symbol));
  COLL_CUDA_FUNCTIONS(COLL_CUDA_REQUIRED)
  COLL_CUDA_OPTIONAL_FUNCTIONS(COLL_CUDA_OPTIONAL)
#undef COLL_CUDA_REQUIRED
#undef COLL_CUDA_OPTIONAL
  return {};
}

Result<const Cuda *> load() {
  std::string name = envString(EnvVar::Cuda);
  if (name == "none")
    return unusable("COLL_CUDA is none");
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return unusable(dlerror());
  static Cuda cuda;
  COLL_RETURN_IF_ERROR(resolve(library, cuda));
  int count = 0;
  Status status = cudaStatus(cuda, cuda.init(0), "cuInit");
  if (status.ok())
    status = cudaStatus(cuda, cuda.deviceGetCount(&count), "cuDeviceGetCount");
  if (!status.ok())
    return unusable(status.message());
  if (count == 0)
    return unusable("there is no GPU");
  return &cuda;
}

int attribute(const Cuda &cuda, int which, CudaDevice device) {
  int value = 0;
  return cuda.deviceGetAttribute(&value, which, device) == kCudaSuccess ? value : 0;
}

std::string lower(std::string text) {
  for (char &letter : text)
    if (letter >= 'A' && letter <= 'Z')
      letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

Result<CudaDeviceInfo> describe(const Cuda &cuda, int ordinal) {
  CudaDevice device = 0;
  COLL_RETURN_IF_ERROR(cudaStatus(cuda, cuda.deviceGet(&device, ordinal), "cuDeviceGet"));
  char name[256] = "", id[64] = "";
  size_t bytes = 0;
  COLL_RETURN_IF_ERROR(
      cudaStatus(cuda, cuda.deviceGetName(name, sizeof(name), device), "cuDeviceGetName"));
  COLL_RETURN_IF_ERROR(
      cudaStatus(cuda, cuda.deviceGetPciBusId(id, sizeof(id), device), "cuDeviceGetPCIBusId"));
  COLL_RETURN_IF_ERROR(cudaStatus(cuda, cuda.deviceTotalMem(&bytes, device), "cuDeviceTotalMem"));
  CudaDeviceInfo info;
  info.ordinal = ordinal;
  info.name = name;
  info.pciBusId = lower(id);
  info.memoryBytes = bytes;
  info.computeMajor = attribute(cuda, kCudaComputeMajor, device);
  info.computeMinor = attribute(cuda, kCudaComputeMinor, device);
  info.multiprocessors = attribute(cuda, kCudaMultiprocessors, device);
  info.dmabuf =
      cuda.memGetHandleForAddressRange && attribute(cuda, kCudaDmabufSupported, device) != 0;
  info.sameHostPointer = attribute(cuda, kCudaHostPointerForRegistered, device) != 0;
  return info;
}

} // namespace

Result<const Cuda *> cuda() {
  static const Result<const Cuda *> loaded = load();
  return loaded;
}

Status cudaStatus(const Cuda &cuda, CudaResult result, std::string_view call) {
  if (result == kCudaSuccess)
    return {};
  const char *name = nullptr, *text = nullptr;
  // These functions set null for an unknown number.
  (void)cuda.getErrorName(result, &name);
  (void)cuda.getErrorString(result, &text);
  std::string message =
      std::string(call) + ": " + (name ? name : "error " + std::to_string(result));
  if (text)
    message += std::string(" (") + text + ")";
  return {kCollDevice, message};
}

Result<std::vector<CudaDeviceInfo>> cudaDevices(const Cuda &cuda) {
  int count = 0;
  COLL_RETURN_IF_ERROR(cudaStatus(cuda, cuda.deviceGetCount(&count), "cuDeviceGetCount"));
  std::vector<CudaDeviceInfo> infos;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Result<CudaDeviceInfo> info = describe(cuda, ordinal);
    if (!info.ok())
      return info.status().annotate("GPU " + std::to_string(ordinal));
    infos.push_back(info.take());
  }
  return infos;
}

CudaPointerInfo cudaPointerInfo(const Cuda &cuda, const void *data) {
  CudaPointerInfo info;
  info.host = const_cast<void *>(data);
  auto address = reinterpret_cast<CudaAddress>(data);
  unsigned type = 0;
  if (cuda.pointerGetAttribute(&type, kCudaPointerMemoryType, address) != kCudaSuccess)
    return info; // an error only means that the memory is not CUDA's
  unsigned managed = 0;
  if (cuda.pointerGetAttribute(&managed, kCudaPointerIsManaged, address) == kCudaSuccess)
    info.managed = managed != 0;
  int ordinal = -1;
  if (cuda.pointerGetAttribute(&ordinal, kCudaPointerOrdinal, address) == kCudaSuccess)
    info.ordinal = ordinal;
  info.device = type == kCudaMemoryDevice && !info.managed;
  void *host = nullptr;
  if (info.device)
    info.host = nullptr;
  else if (cuda.pointerGetAttribute(&host, kCudaPointerHostAddress, address) == kCudaSuccess &&
           host)
    info.host = host;
  return info;
}

Result<CudaDmabuf> cudaExportDmabuf(const Cuda &cuda, const void *data, uint64_t bytes) {
  if (!cuda.memGetHandleForAddressRange)
    return Status(kCollUnsupported, "the CUDA driver is too old to export a dmabuf");
  // Exported ranges begin and end at host pages.
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  auto address = reinterpret_cast<CudaAddress>(data);
  CudaAddress begin = address / page * page, end = (address + bytes + page - 1) / page * page;
  CudaDmabuf result;
  CudaResult code =
      cuda.memGetHandleForAddressRange(&result.fd, begin, end - begin, kCudaHandleDmabuf, 0);
  if (code != kCudaSuccess)
    return Status(kCollUnsupported,
                  cudaStatus(cuda, code, "cuMemGetHandleForAddressRange").message());
  result.offset = address - begin;
  return result;
}

bool lazyLoading(const Cuda &cuda) {
  int mode = kCudaLoadingEager;
  return cuda.moduleGetLoadingMode && cuda.moduleGetLoadingMode(&mode) == kCudaSuccess &&
         mode != kCudaLoadingEager;
}

CudaScope::CudaScope(const Cuda &cuda, CudaContext context)
    : cuda_(cuda), status_(cudaStatus(cuda, cuda.contextPush(context), "cuCtxPushCurrent")) {}

CudaScope::~CudaScope() {
  CudaContext popped = nullptr;
  if (status_.ok())
    (void)cuda_.contextPop(&popped); // it was pushed here, so this cannot fail
}

} // namespace coll::rt::dl
