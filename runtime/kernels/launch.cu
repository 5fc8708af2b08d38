#include "runtime/kernels/launch.h"

#include <algorithm>
#include <cuda_runtime.h>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

// The only converter of CUDA's run-time errors.
Status toStatus(cudaError_t error, const std::string &what) {
  if (error == cudaSuccess)
    return Status::okay();
  // The error of a launch is kept until it is read, so read it.
  (void)cudaGetLastError();
  return {kCollDevice, what + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error)};
}

constexpr int kMinMajor = 8, kMinCode = 80, kOverlapCode = 90; // of virtual architectures

Result<int> attributeOf(cudaDeviceAttr attribute, int device, const char *what) {
  int value = 0;
  COLL_RETURN_IF_ERROR(toStatus(cudaDeviceGetAttribute(&value, attribute, device), what));
  return value;
}

// The version of a kernel's code that this device uses: 80, 90, …
Result<int> codeOf(const void *kernel, int device) {
  const Result<int> major =
      attributeOf(cudaDevAttrComputeCapabilityMajor, device, "compute capability");
  if (!major)
    return major.status();
  const std::string gpu = "GPU " + std::to_string(device) + " has compute capability " +
                          std::to_string(*major) + ".x; ";
  if (*major < kMinMajor)
    return Status(kCollUnsupported, gpu + "the kernels need 8.0");
  cudaFuncAttributes attributes = {};
  const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
    (void)cudaGetLastError();
    return Status(kCollUnsupported,
                  gpu + "this build has no code for it (COLL_CUDA_ARCHITECTURES)");
  }
  COLL_RETURN_IF_ERROR(toStatus(error, "a kernel's code"));
  return std::max(kMinCode, attributes.ptxVersion);
}

} // namespace

Result<PreparedKernel> prepareKernel(const void *kernel, size_t sharedBytes) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void *>, PreparedKernel> prepared;
  int device = 0;
  COLL_RETURN_IF_ERROR(toStatus(cudaGetDevice(&device), "cudaGetDevice"));
  const std::lock_guard lock(mutex);
  if (const auto known = prepared.find({device, kernel}); known != prepared.end())
    return known->second;
  const Result<int> code = codeOf(kernel, device);
  if (!code)
    return code.status();
  const Result<int> processors =
      attributeOf(cudaDevAttrMultiProcessorCount, device, "number of multiprocessors");
  if (!processors)
    return processors.status();
  const Result<int> shared = attributeOf(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device,
                                         "shared memory of a multiprocessor");
  if (!shared)
    return shared.status();
  COLL_RETURN_IF_ERROR(
      toStatus(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sharedBytes)),
               "shared memory of a kernel"));
  // A multiprocessor changes its split between cache and shared memory only when it is idle.
  // Kernels that wait for each other, on a GPU that members share, must not wait for that.
  COLL_RETURN_IF_ERROR(
      toStatus(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared),
               "carveout of a kernel"));
  return prepared[{device, kernel}] = {*processors, static_cast<size_t>(*shared),
                                       *code >= kOverlapCode};
}

Result<int> computeCapability() {
  int device = 0;
  COLL_RETURN_IF_ERROR(toStatus(cudaGetDevice(&device), "cudaGetDevice"));
  const Result<int> major =
      attributeOf(cudaDevAttrComputeCapabilityMajor, device, "compute capability");
  const Result<int> minor =
      attributeOf(cudaDevAttrComputeCapabilityMinor, device, "compute capability");
  if (!major || !minor)
    return (major ? minor : major).status();
  return *major * 10 + *minor;
}

Result<size_t> blockSharedBytes() {
  int device = 0;
  COLL_RETURN_IF_ERROR(toStatus(cudaGetDevice(&device), "cudaGetDevice"));
  const Result<int> bytes =
      attributeOf(cudaDevAttrMaxSharedMemoryPerBlockOptin, device, "shared memory of a block");
  if (!bytes)
    return bytes.status();
  return static_cast<size_t>(*bytes);
}

Status launchKernel(const char *name, const void *kernel, int blocks, int threads,
                    size_t sharedBytes, void **arguments, void *stream, bool early) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = sharedBytes;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  return toStatus(cudaLaunchKernelExC(&config, kernel, arguments),
                  std::string("launch of ") + name);
}

} // namespace coll::kernels
