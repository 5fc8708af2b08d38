#include "runtime/step/device/gpu/gpu_device.h"

#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/base/machine.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace coll::rt {

namespace {

constexpr int64_t kAlignment = 256;
constexpr int64_t kLeastDown = int64_t{1} << 20, kMostDown = int64_t{64} << 20;
// Values of up to this size are stored by calls that contain them.
constexpr int64_t kInlineBytes = 32;

int64_t alignUp(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

dl::CudaAddress addressOf(const void *data) { return reinterpret_cast<dl::CudaAddress>(data); }

InputWriter writeFrom(const void *src) {
  return [src](int64_t begin, int64_t bytes, char *to) {
    std::memcpy(to, static_cast<const char *>(src) + begin, static_cast<size_t>(bytes));
  };
}

std::string mebibytes(int64_t bytes) {
  return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB";
}

// The bytes of all inputs, state included, that a rank uploads; and of a step's results.
int64_t upBytes(const Descriptor &descriptor) {
  int64_t bytes = 0;
  for (const TensorInfo &arg : descriptor.args)
    bytes += std::min(arg.localBytes(), kMostDown);
  return bytes;
}
int64_t downBytes(const Descriptor &descriptor) {
  int64_t bytes = 0;
  for (const TensorInfo &result : descriptor.results)
    bytes += result.arg >= 0 || result.isState() ? 0 : std::min(result.localBytes(), kMostDown);
  return std::clamp(alignUp(bytes), kLeastDown, kMostDown);
}

// Threads that write a rank's inputs, if all ranks are on this machine and half of its processors
// have nothing else to do.
int writersOf(const Descriptor &descriptor) {
  return numAllowedProcessors() / (2 * descriptor.numRanks());
}

} // namespace

Result<std::unique_ptr<GpuDevice>> GpuDevice::create(const GpuPlatform &platform, int ordinal,
                                                     const Program &program, Endpoint &endpoint,
                                                     const TokenOptions &tokens) {
  std::unique_ptr<GpuDevice> device(new GpuDevice(platform, program, endpoint));
  COLL_RETURN_IF_ERROR(device->open(ordinal, tokens));
  return device;
}

Status GpuDevice::open(int ordinal, const TokenOptions &tokens) {
  Result<std::unique_ptr<gpu::Gpu>> opened =
      gpu::Gpu::open(*platform_.cuda, ordinal, "the step", /*keepsContext=*/false);
  if (!opened)
    return opened.status();
  gpu_ = opened.take();
  stream_ = gpu_->stream();
  syncs_ = envInt(EnvVar::GpuSync) != 0;
  hasGroups_ = !program_.descriptor.groups.empty();
  gpu::Gpu::Scope scope(*gpu_);
  COLL_RETURN_IF_ERROR(scope.scope.status());
  if (!program_.kernels.empty()) {
    Result<std::shared_ptr<GpuModule>> module = GpuModule::load(*gpu_, program_);
    if (!module)
      return module.status();
    module_ = module.take();
  }
  Result<std::unique_ptr<Bounce>> bounce =
      Bounce::create(*gpu_, stream_, upBytes(program_.descriptor), downBytes(program_.descriptor),
                     writersOf(program_.descriptor));
  if (!bounce)
    return bounce.status();
  bounce_ = bounce.take();
  staging_ = std::make_unique<PinnedPool>(*gpu_);
  if (envInt(EnvVar::GpuTokens) != 0)
    tokens_ = TokensOnGpu::create(*gpu_, platform_.tokens, stream_, tokens);
  return {};
}

void GpuDevice::drain() {
  if (!gpu_)
    return;
  gpu::Gpu::Scope scope(*gpu_);
  gpu_->drain(stream_);
  isDrained_ = true;
}

GpuDevice::~GpuDevice() {
  if (!gpu_)
    return;
  if (!isDrained_) // a kernel that never ends is not waited for twice
    drain();
  gpu::Gpu::Scope scope(*gpu_);
  for (const auto &[key, graph] : graphs_)
    (void)gpu_->cuda().graphExecDestroy(graph.exec);
  streamTrace_.reset();
  tokens_.reset();
  known_.reset();
}

//===-- memory ------------------------------------------------------------------===//

Status GpuDevice::shortage(const Status &failed, const std::vector<BufferNeed> &needs,
                           int64_t total) const {
  const auto largest =
      std::max_element(needs.begin(), needs.end(),
                       [](const BufferNeed &a, const BufferNeed &b) { return a.bytes < b.bytes; });
  size_t free = 0, all = 0;
  (void)gpu_->cuda().memGetInfo(&free, &all);
  std::string text = "GPU " + std::to_string(gpu_->ordinal()) + " has no room for this rank: its " +
                     std::to_string(needs.size()) + " buffers need " + mebibytes(total) + ", and " +
                     mebibytes(static_cast<int64_t>(free)) + " of " +
                     mebibytes(static_cast<int64_t>(all)) + " are free";
  if (largest != needs.end())
    text += "; the largest is " + largest->what + " with " + mebibytes(largest->bytes);
  return {kCollDevice, text + " (" + failed.message() + ")"};
}

Result<char *> GpuDevice::takeMemory(int64_t bytes, Communicator *members) {
  if (members) {
    Result<std::unique_ptr<Registration>> known = members->allocate(bytes);
    if (!known)
      return known.status();
    known_ = known.take();
    return static_cast<char *>(known_->data());
  }
  Result<dl::GpuMemory> memory =
      dl::GpuMemory::create(gpu_->context(), dl::GpuMemory::Kind::Device, bytes);
  if (!memory)
    return memory.status();
  memory_ = memory.take();
  return memory_.device();
}

Result<std::vector<char *>> GpuDevice::allocate(const std::vector<BufferNeed> &needs,
                                                Communicator *members) {
  int64_t total = alignUp(std::max<int64_t>(program_.data.constantsBytes, 1));
  std::vector<int64_t> offsets;
  for (const BufferNeed &need : needs) {
    offsets.push_back(total);
    if (need.bytes < 0 ||
        __builtin_add_overflow(total, alignUp(std::max<int64_t>(need.bytes, 1)), &total))
      return Status::invalid(need.what + " has " + std::to_string(need.bytes) + " bytes");
  }
  gpu::Gpu::Scope scope(*gpu_);
  Result<char *> memory = takeMemory(total, members);
  if (!memory && memory.status().code() != kCollDevice)
    return memory.status().annotate("memory that all members reach");
  if (!memory)
    return shortage(memory.status(), needs, total);
  std::vector<char *> buffers;
  for (size_t i = 0; i < needs.size(); ++i) {
    buffers.push_back(*memory + offsets[i]);
    if (needs[i].isZeroed && needs[i].bytes > 0)
      COLL_RETURN_IF_ERROR(
          check(gpu_->cuda().memsetD8Async(addressOf(buffers[i]), 0,
                                           static_cast<size_t>(needs[i].bytes), stream_),
                "cuMemsetD8Async"));
  }
  takesGpuMemory_ = endpoint_.gpuOf(*memory) >= 0;
  COLL_RETURN_IF_ERROR(uploadConstants(*memory));
  COLL_RETURN_IF_ERROR(check(gpu_->cuda().streamSynchronize(stream_), "cuStreamSynchronize"));
  bounce_->finish();
  return buffers;
}

Status GpuDevice::uploadConstants(char *to) {
  const ProgramData &data = program_.data;
  if (data.constantsBytes == 0)
    return {};
  constants_ = to;
  return bounce_->upload(constants_, data.constantsBytes, writeFrom(data.constants));
}

Status GpuDevice::upload(void *dst, int64_t bytes, const InputWriter &write) {
  gpu::Gpu::Scope scope(*gpu_);
  return bounce_->upload(static_cast<char *>(dst), bytes, write);
}

std::unique_ptr<InputsAhead> GpuDevice::makeInputsAhead(int64_t bytes) {
  gpu::Gpu::Scope scope(*gpu_);
  Result<std::unique_ptr<GpuInputsAhead>> made =
      GpuInputsAhead::create(*gpu_, stream_, bytes, writersOf(program_.descriptor));
  if (made)
    return made.take();
  log(LogLevel::Info,
      "batches are copied when their step begins, and not ahead of it: " + made.status().message());
  return nullptr;
}

Status GpuDevice::download(char *hostDst, const void *src, int64_t bytes) {
  gpu::Gpu::Scope scope(*gpu_);
  return bounce_->download(hostDst, static_cast<const char *>(src), bytes);
}

// The endpoint knows the calls that have failed, and gives up at its deadline.
Status GpuDevice::synchronize() {
  gpu::Gpu::Scope scope(*gpu_);
  const bool hasCalls = isRunning_ && hasGroups_ && takesGpuMemory_ && endpoint_.takesCaptures();
  const bool wasRunning = std::exchange(isRunning_, false);
  const bool usesTokens = wasRunning && tokens_ && tokens_->isUsed();
  Status status = usesTokens && !hasCalls ? awaitTokens() : Status();
  if (status.ok())
    status = hasCalls ? endpoint_.synchronize(stream_)
                      : check(gpu_->cuda().streamSynchronize(stream_), "cuStreamSynchronize");
  if (usesTokens && hasCalls) {
    status = status.ok() ? tokens_->check() : reasonOf(status);
    if (!status.ok())
      endTokens();
  }
  if (wasRunning && traced_)
    traced_->finish(status.ok());
  traced_ = nullptr;
  tracesStream_ = false;
  if (status.ok())
    bounce_->finish();
  else if (status.code() == kCollDevice && !syncs_)
    status = {kCollDevice, "GPU " + std::to_string(gpu_->ordinal()) + " failed in the step: " +
                               status.message() + "; COLL_GPU_SYNC=1 names the operation"};
  return status;
}

//===-- calls of the program ----------------------------------------------------===//

Status GpuDevice::settle(Status put) {
  ++calls_;
  if (!put.ok() || !syncs_)
    return put;
  return check(gpu_->cuda().streamSynchronize(stream_), "cuStreamSynchronize");
}

void GpuDevice::beginCall(const Call &call, const TraceGroup &group, int64_t bytes) {
  traced_->beginCall(call, group, bytes);
}

void GpuDevice::endCall(const Call &call) { traced_->endCall(call); }

Result<std::unique_ptr<CallEnd>> GpuDevice::prepare(Call &call, const CallExtents &extents,
                                                    bool isStarted) {
  if (takesGpuMemory_) {
    if (isStarted || !endpoint_.takesCaptures())
      COLL_RETURN_IF_ERROR(leaveGraphs(isStarted ? "a started call" : "this backend's calls"));
    call.stream = stream_;
    return std::unique_ptr<CallEnd>();
  }
  COLL_RETURN_IF_ERROR(leaveGraphs("a call on host memory"));
  Result<std::unique_ptr<StagedCall>> staged =
      StagedCall::begin(*gpu_, *staging_, stream_, call, extents);
  if (!staged)
    return staged.status();
  return std::unique_ptr<CallEnd>(staged.take());
}

Status GpuDevice::launch(const CallSite &site, int32_t kernel, const void *const *args, int32_t) {
  if (!module_ || kernel < 0 || kernel >= module_->numKernels())
    return Status::invalid("the program has no kernel " + std::to_string(kernel));
  Status status = put(site, [&] { return module_->launch(kernel, args, stream_); });
  if (status.ok())
    return status;
  const GpuKernel &what = module_->kernel(kernel);
  return status.annotate("kernel \"" + what.name + "\"" +
                         (what.loc.empty() ? "" : " at " + what.loc));
}

Status GpuDevice::copy(const CallSite &site, void *dst, const void *src, int64_t bytes) {
  if (bytes == 0)
    return {};
  return put(site, [&] {
    return check(gpu_->cuda().memcpyAsync(addressOf(dst), addressOf(src),
                                          static_cast<size_t>(bytes), stream_),
                 "cuMemcpyAsync");
  });
}

Status GpuDevice::fill(const CallSite &site, void *dst, const void *pattern, int32_t patternBytes,
                       int64_t count) {
  if (count == 0)
    return {};
  return put(site, [&] { return setWords(dst, pattern, patternBytes, count); });
}

Status GpuDevice::setWords(void *dst, const void *pattern, int32_t patternBytes, int64_t count) {
  const dl::Cuda &cuda = gpu_->cuda();
  const auto elems = static_cast<size_t>(count);
  uint32_t words[4] = {};
  std::memcpy(words, pattern, static_cast<size_t>(patternBytes));
  const size_t numWords = static_cast<size_t>(patternBytes) / sizeof(uint32_t);
  if (patternBytes == 1)
    return check(
        cuda.memsetD8Async(addressOf(dst), static_cast<unsigned char>(words[0]), elems, stream_),
        "cuMemsetD8Async");
  if (patternBytes == 2)
    return check(
        cuda.memsetD16Async(addressOf(dst), static_cast<unsigned short>(words[0]), elems, stream_),
        "cuMemsetD16Async");
  if (std::all_of(words, words + numWords, [&](uint32_t word) { return word == words[0]; }))
    return check(cuda.memsetD32Async(addressOf(dst), words[0], elems * numWords, stream_),
                 "cuMemsetD32Async");
  // Writes one column of words after the other.
  for (size_t i = 0; i < numWords; ++i)
    COLL_RETURN_IF_ERROR(
        check(cuda.memset2DD32Async(addressOf(dst) + i * sizeof(uint32_t),
                                    static_cast<size_t>(patternBytes), words[i], 1, elems, stream_),
              "cuMemsetD2D32Async"));
  return {};
}

Status GpuDevice::fetch(const CallSite &site, void *hostDst, const void *src, int64_t bytes) {
  COLL_RETURN_IF_ERROR(leaveGraphs("fetch"));
  return put(site, [&] {
    return bounce_->fetch(static_cast<char *>(hostDst), static_cast<const char *>(src), bytes);
  });
}

// A graph keeps the values. They are the same in every step: a value that the host computes from
// the GPU's memory needs a fetch, which excludes graphs.
Status GpuDevice::storeInline(dl::CudaAddress dst, const char *src, int64_t bytes) {
  const dl::Cuda &cuda = gpu_->cuda();
  int64_t done = 0;
  for (; bytes - done >= 4 && dst % 4 == 0; done += 4) {
    uint32_t word;
    std::memcpy(&word, src + done, sizeof(word));
    COLL_RETURN_IF_ERROR(
        check(cuda.memsetD32Async(dst + done, word, 1, stream_), "cuMemsetD32Async"));
  }
  for (; done < bytes; ++done)
    COLL_RETURN_IF_ERROR(
        check(cuda.memsetD8Async(dst + done, static_cast<unsigned char>(src[done]), 1, stream_),
              "cuMemsetD8Async"));
  return {};
}

Status GpuDevice::store(const CallSite &site, void *dst, const void *hostSrc, int64_t bytes) {
  if (bytes <= kInlineBytes)
    return put(site, [&] {
      return storeInline(addressOf(dst), static_cast<const char *>(hostSrc), bytes);
    });
  COLL_RETURN_IF_ERROR(leaveGraphs("store"));
  return put(site,
             [&] { return bounce_->upload(static_cast<char *>(dst), bytes, writeFrom(hostSrc)); });
}

Status GpuDevice::contract(const CallSite &site, const CollContraction &c, const void *a,
                           const void *b, void *out) {
  if (c.k == 0) {
    const bool isDense = c.ld_out == c.n && (c.batch == 1 || c.stride_out == c.m * c.n);
    if (c.accumulate || c.epilogue != kCollEpilogueNone || !isDense)
      return {kCollUnsupported, "a sum of no products into a part of memory"};
    const char zero = 0;
    return fill(site, out, &zero, 1,
                c.batch * c.m * c.n * dtypeSize(static_cast<CollDtype>(c.dtype_out)));
  }
  if (!matmuls_) {
    Result<const dl::CublasLt *> lt =
        platform_.cublasLt ? Result<const dl::CublasLt *>(platform_.cublasLt) : dl::cublasLt();
    if (!lt)
      return lt.status();
    Result<std::unique_ptr<Matmuls>> made = Matmuls::create(**lt, *gpu_, platform_.epilogue);
    if (!made)
      return made.status();
    matmuls_ = made.take();
  }
  return put(site, [&] { return matmuls_->run(c, a, b, out, stream_, isCapturing_); });
}

Status GpuDevice::attend(const CallSite &site, const kernels::Attention &attention,
                         const kernels::AttentionBuffers &buffers, bool isBackward) {
  return put(site, [&] {
    return (isBackward ? platform_.attentionBackward : platform_.attention)(attention, buffers,
                                                                            stream_);
  });
}

Status GpuDevice::openCudnn() {
  if (convolutions_ || hasNoCudnn_)
    return {};
  Result<const dl::Cudnn *> cudnn =
      platform_.cudnn ? Result<const dl::Cudnn *>(platform_.cudnn) : dl::cudnn();
  hasNoCudnn_ = !cudnn.ok();
  if (hasNoCudnn_) {
    static std::once_flag once;
    std::call_once(once, [&] {
      log(LogLevel::Warn, "convolutions run on a slow kernel: " + cudnn.status().message());
    });
    return {};
  }
  Result<std::unique_ptr<Convolutions>> made = Convolutions::create(**cudnn, *gpu_);
  if (!made)
    return made.status();
  convolutions_ = made.take();
  return {};
}

Status GpuDevice::convolve(const CallSite &site, const kernels::Convolution &convolution,
                           const kernels::ConvolutionBuffers &buffers) {
  COLL_RETURN_IF_ERROR(openCudnn());
  return put(site, [&] {
    Result<bool> done = false;
    if (convolutions_)
      done = convolutions_->run(convolution, buffers, stream_, isCapturing_);
    return done && !*done ? platform_.convolution(convolution, buffers, stream_) : done.status();
  });
}

} // namespace coll::rt
