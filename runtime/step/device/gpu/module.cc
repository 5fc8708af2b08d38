#include "runtime/step/device/gpu/module.h"

#include <cstring>
#include <map>
#include <mutex>

namespace coll::rt {

namespace {

constexpr size_t kLogBytes = 8192;
// A kernel that uses more must request it.
constexpr unsigned kSharedUnasked = 48 * 1024;

// Loaded modules by GPU and image, for the ranks that load them later.
struct Loaded {
  std::mutex mutex;
  std::map<std::pair<dl::CudaContext, const char *>, std::weak_ptr<GpuModule>> modules;
};

Loaded &loaded() {
  static Loaded all;
  return all;
}

std::string architectureOf(const gpu::Gpu &gpu) {
  int major = 0, minor = 0;
  (void)gpu.cuda().deviceGetAttribute(&major, dl::kCudaComputeMajor, gpu.ordinal());
  (void)gpu.cuda().deviceGetAttribute(&minor, dl::kCudaComputeMinor, gpu.ordinal());
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

// What to do about an image that the driver rejects.
std::string adviceFor(dl::CudaResult result, const gpu::Gpu &gpu) {
  switch (result) {
  case dl::kCudaNoBinary:
    return "; the kernels were compiled for other GPUs than " + architectureOf(gpu) +
           ": compile the step for it, with --device=gpu:" + architectureOf(gpu);
  case dl::kCudaUnsupportedPtx:
    return "; the driver is older than the PTX: install a newer driver";
  default:
    return "";
  }
}

} // namespace

Result<std::shared_ptr<GpuModule>> GpuModule::load(const gpu::Gpu &gpu, const Program &program) {
  Loaded &all = loaded();
  // The lock is held while the driver compiles, so that it compiles once for all ranks.
  std::lock_guard<std::mutex> lock(all.mutex);
  std::weak_ptr<GpuModule> &known = all.modules[{gpu.context()->context(), program.data.gpuImage}];
  if (std::shared_ptr<GpuModule> module = known.lock())
    return module;
  std::shared_ptr<GpuModule> module(new GpuModule(gpu));
  COLL_RETURN_IF_ERROR(module->load(program.data.gpuImage, gpu));
  for (const GpuKernel &kernel : program.kernels)
    COLL_RETURN_IF_ERROR(module->find(kernel));
  known = module;
  return module;
}

Status GpuModule::load(const char *image, const gpu::Gpu &gpu) {
  char log[kLogBytes] = "";
  int options[] = {dl::kCudaJitErrorLog, dl::kCudaJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(kLogBytes)};
  const dl::CudaResult result =
      context_->cuda().moduleLoad(&module_, image, std::size(options), options, values);
  if (result == dl::kCudaSuccess)
    return {};
  module_ = nullptr;
  const Status failed = context_->check(result, "cuModuleLoadDataEx");
  log[kLogBytes - 1] = '\0';
  std::string text = failed.message() + adviceFor(result, gpu);
  if (*log)
    text += std::string(": ") + log;
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return Status(failed.code(), text).annotate("the program's GPU kernels cannot be loaded");
}

Status GpuModule::find(const GpuKernel &kernel) {
  dl::CudaFunction function = nullptr;
  const dl::Cuda &cuda = context_->cuda();
  Status found = context_->check(cuda.moduleGetFunction(&function, module_, kernel.name.c_str()),
                                 "cuModuleGetFunction");
  if (found.ok() && kernel.sharedBytes > kSharedUnasked)
    found = context_->check(cuda.functionSetAttribute(function, dl::kCudaMaxDynamicShared,
                                                      static_cast<int>(kernel.sharedBytes)),
                            "cuFuncSetAttribute, " + std::to_string(kernel.sharedBytes) +
                                " bytes of shared memory");
  if (!found.ok())
    return found.annotate("kernel \"" + kernel.name + "\"");
  kernels_.push_back(kernel);
  functions_.push_back(function);
  return {};
}

GpuModule::~GpuModule() {
  dl::CudaScope scope(context_->cuda(), context_->context());
  if (module_)
    (void)context_->cuda().moduleUnload(module_);
}

Status GpuModule::launch(int index, const void *const *args, dl::CudaStream stream) const {
  const GpuKernel &kernel = kernels_[static_cast<size_t>(index)];
  // The driver reads the values, and changes nothing.
  void **parameters = const_cast<void **>(args);
  return context_->check(context_->cuda().launchKernel(
                             functions_[static_cast<size_t>(index)], kernel.grid[0], kernel.grid[1],
                             kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2],
                             kernel.sharedBytes, stream, parameters, nullptr),
                         "cuLaunchKernel");
}

} // namespace coll::rt
