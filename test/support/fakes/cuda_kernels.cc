#include "test/support/fakes/cuda_state.h"

#include <cstdio>

namespace coll::rt::dl {

namespace {

// The memory is set when the stream reaches this work.
CudaResult setWords(CudaAddress to, size_t pitch, const void *word, size_t wordBytes, size_t width,
                    size_t rows, CudaStream stream) {
  std::vector<char> bytes(wordBytes);
  std::memcpy(bytes.data(), word, wordBytes);
  return FakeCuda::enqueue(stream, [=]() -> FakeCuda::Question {
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < width; ++i)
        std::memcpy(reinterpret_cast<char *>(to) + row * pitch + i * wordBytes, bytes.data(),
                    wordBytes);
    return [] { return true; };
  });
}

} // namespace

void FakeCuda::defineKernel(const std::string &name, std::vector<size_t> parameterBytes,
                            std::function<void(const FakeLaunch &)> run) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->kernels[name] = {std::move(parameterBytes), std::move(run)};
}

CudaResult FakeCudaKernels::memsetD16Async(CudaAddress to, unsigned short value, size_t count,
                                           CudaStream stream) {
  if (Call call("memsetD16Async", /*needsContext=*/true); call.failed())
    return call.result;
  return setWords(to, 0, &value, sizeof(value), count, 1, stream);
}

CudaResult FakeCudaKernels::memsetD32Async(CudaAddress to, unsigned value, size_t count,
                                           CudaStream stream) {
  if (Call call("memsetD32Async", /*needsContext=*/true); call.failed())
    return call.result;
  return setWords(to, 0, &value, sizeof(value), count, 1, stream);
}

CudaResult FakeCudaKernels::memset2DD32Async(CudaAddress to, size_t pitch, unsigned value,
                                             size_t width, size_t rows, CudaStream stream) {
  if (Call call("memset2DD32Async", /*needsContext=*/true); call.failed())
    return call.result;
  return setWords(to, pitch, &value, sizeof(value), width, rows, stream);
}

CudaResult FakeCudaKernels::memGetInfo(size_t *free, size_t *total) {
  *total = size_t{1} << 30;
  *free = *total / 2;
  return Call("memGetInfo", /*needsContext=*/true).result;
}

CudaResult FakeCudaKernels::moduleLoad(CudaModule *module, const void *image, unsigned numOptions,
                                       int *options, void **values) {
  Call call("moduleLoad", /*needsContext=*/true);
  if (call.failed())
    return call.result;
  constexpr char kPtx[] = ".version";
  if (std::strncmp(static_cast<const char *>(image), kPtx, sizeof(kPtx) - 1) != 0) {
    constexpr CudaResult kInvalidPtx = 218;
    for (unsigned i = 0; i < numOptions; ++i)
      if (options[i] == kCudaJitErrorLog)
        std::strcpy(static_cast<char *>(values[i]), "ptxas fatal: line 1: syntax error");
    return kInvalidPtx;
  }
  auto made = std::make_unique<CudaModuleTag>();
  made->ordinal = contextStack.back()->ordinal;
  *module = made.get();
  call.state.modules[*module] = std::move(made);
  return kCudaSuccess;
}

CudaResult FakeCudaKernels::moduleUnload(CudaModule module) {
  Call call("moduleUnload", /*needsContext=*/true);
  return call.state.modules.erase(module) ? call.result : call.state.wrong("an unknown module");
}

CudaResult FakeCudaKernels::moduleGetFunction(CudaFunction *function, CudaModule module,
                                              const char *name) {
  Call call("moduleGetFunction", /*needsContext=*/true);
  if (call.failed())
    return call.result;
  if (!call.state.modules.count(module))
    return call.state.wrong("a kernel of an unknown module");
  auto it = call.state.kernels.find(name);
  if (it == call.state.kernels.end())
    return kCudaNotFound;
  *function = &it->second;
  return kCudaSuccess;
}

CudaResult FakeCudaKernels::functionSetAttribute(CudaFunction, int, int) {
  return Call("functionSetAttribute", /*needsContext=*/true).result;
}

CudaResult FakeCudaKernels::launchKernel(CudaFunction function, unsigned gridX, unsigned gridY,
                                         unsigned gridZ, unsigned blockX, unsigned blockY,
                                         unsigned blockZ, unsigned sharedBytes, CudaStream stream,
                                         void **parameters, void **) {
  if (Call call("launchKernel", /*needsContext=*/true); call.failed())
    return call.result;
  FakeLaunch launch{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, {}};
  for (size_t i = 0; i < function->parameterBytes.size(); ++i) {
    const char *value = static_cast<const char *>(parameters[i]);
    launch.parameters.emplace_back(value, value + function->parameterBytes[i]);
  }
  return FakeCuda::enqueue(stream, [function, launch]() -> FakeCuda::Question {
    function->run(launch);
    return [] { return true; };
  });
}

} // namespace coll::rt::dl
