#include "runtime/kernels/launch.h"

#include <cuda_runtime.h>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

// The one converter of CUDA's run-time errors.
Status toStatus(cudaError_t error, const std::string &what) {
  if (error == cudaSuccess)
    return Status::okay();
  // Errors of a launch stay behind until they are asked for.
  (void)cudaGetLastError();
  return {kCollDevice, what + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error)};
}

constexpr int kMinMajor = 9;

} // namespace

Result<int> prepareKernel(const void *kernel, size_t sharedBytes) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void *>, int> prepared;
  int device = 0, major = 0, processors = 0;
  COLL_RETURN_IF_ERROR(toStatus(cudaGetDevice(&device), "cudaGetDevice"));
  const std::lock_guard lock(mutex);
  if (const auto known = prepared.find({device, kernel}); known != prepared.end())
    return known->second;
  COLL_RETURN_IF_ERROR(
      toStatus(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
               "compute capability"));
  if (major < kMinMajor)
    return Status(kCollUnsupported, "GPU " + std::to_string(device) + " has compute capability " +
                                        std::to_string(major) + ".x; the kernels need 9.0");
  COLL_RETURN_IF_ERROR(
      toStatus(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
               "number of multiprocessors"));
  COLL_RETURN_IF_ERROR(
      toStatus(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sharedBytes)),
               "shared memory of a kernel"));
  // A multiprocessor changes its split of cache and shared memory only when it is empty. Kernels
  // that wait for each other on a GPU that members share must not wait for that.
  COLL_RETURN_IF_ERROR(
      toStatus(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared),
               "carveout of a kernel"));
  prepared[{device, kernel}] = processors;
  return processors;
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
