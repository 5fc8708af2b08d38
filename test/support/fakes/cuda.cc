#include "test/support/fakes/cuda_state.h"

#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace coll::rt::dl {

struct FakeCudaFunctions : FakeCudaPeers {
  static CudaResult init(unsigned) { return Call("init").result; }
  static CudaResult getErrorName(CudaResult result, const char **name) {
    *name = result == kCudaOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
            : result == kCudaSuccess   ? "CUDA_SUCCESS"
                                       : nullptr;
    return *name ? kCudaSuccess : kCudaInvalidValue;
  }
  static CudaResult getErrorString(CudaResult, const char **text) {
    *text = nullptr;
    return kCudaInvalidValue;
  }

  static CudaResult deviceGetCount(int *count) {
    Call call("deviceGetCount");
    *count = call.state.numDevices;
    return call.result;
  }
  static CudaResult deviceGet(CudaDevice *device, int ordinal) {
    Call call("deviceGet");
    if (ordinal < 0 || ordinal >= call.state.numDevices)
      return 101; // CUDA_ERROR_INVALID_DEVICE: asking is no misuse
    *device = ordinal;
    return call.result;
  }
  static CudaResult deviceGetName(char *name, int bytes, CudaDevice device) {
    std::snprintf(name, static_cast<size_t>(bytes), "fake GPU %d", device);
    return Call("deviceGetName").result;
  }
  static CudaResult deviceTotalMem(size_t *bytes, CudaDevice) {
    *bytes = size_t(1) << 30;
    return Call("deviceTotalMem").result;
  }
  static CudaResult deviceGetAttribute(int *value, int attribute, CudaDevice) {
    Call call("deviceGetAttribute");
    *value = attribute == kCudaComputeMajor      ? 9
             : attribute == kCudaMultiprocessors ? 132
             : attribute == kCudaComputeMinor    ? 0
                                                 : 1;
    return call.result;
  }
  static CudaResult deviceGetPciBusId(char *id, int bytes, CudaDevice device) {
    std::snprintf(id, static_cast<size_t>(bytes), "0000:%02X:00.0", device + 0x1a);
    return Call("deviceGetPciBusId").result;
  }

  static CudaResult primaryContextRetain(CudaContext *context, CudaDevice device) {
    Call call("primaryContextRetain");
    if (call.failed())
      return call.result;
    if (device < 0 || device >= call.state.numDevices)
      return 101;
    *context = &call.state.contexts[device];
    ++(*context)->retained;
    return kCudaSuccess;
  }
  static CudaResult primaryContextRelease(CudaDevice device) {
    Call call("primaryContextRelease");
    if (--call.state.contexts[device].retained < 0)
      return call.state.wrong("a context released too often");
    return call.result;
  }
  static CudaResult contextSetCurrent(CudaContext context) {
    if (!contextStack.empty())
      contextStack.pop_back();
    contextStack.push_back(context);
    return Call("contextSetCurrent").result;
  }
  static CudaResult contextPush(CudaContext context) {
    Call call("contextPush");
    if (!call.failed())
      contextStack.push_back(context);
    return call.result;
  }
  static CudaResult contextPop(CudaContext *context) {
    Call call("contextPop");
    if (contextStack.empty())
      return call.state.wrong("a context popped too often");
    *context = contextStack.back();
    contextStack.pop_back();
    return call.result;
  }
  static CudaResult contextGetDevice(CudaDevice *device) {
    Call call("contextGetDevice");
    if (contextStack.empty() || !contextStack.back())
      return kCudaInvalidContext; // asking is no misuse
    *device = contextStack.back()->ordinal;
    return call.result;
  }

  static CudaResult memAlloc(CudaAddress *address, size_t bytes) {
    Call call("memAlloc", /*needsContext=*/true);
    if (captures > 0 && captureMode != kCudaCaptureRelaxed)
      return call.state.wrong("memory asked for inside a capture", kCaptureUnsupported);
    if (!call.failed())
      *address = allocate(call.state, bytes, FakeKind::Device, contextStack.back()->ordinal);
    return call.failed() || *address ? call.result : kCudaOutOfMemory;
  }
  static CudaResult memFree(CudaAddress address) {
    return release("memFree", address, FakeKind::Device);
  }
  static CudaResult memHostAlloc(void **data, size_t bytes, unsigned) {
    Call call("memHostAlloc", /*needsContext=*/true);
    if (!call.failed())
      *data = reinterpret_cast<void *>(
          allocate(call.state, bytes, FakeKind::HostAlloc, contextStack.back()->ordinal));
    return call.result;
  }
  static CudaResult memFreeHost(void *data) {
    return release("memFreeHost", reinterpret_cast<uint64_t>(data), FakeKind::HostAlloc);
  }
  static CudaResult memHostRegister(void *data, size_t bytes, unsigned) {
    Call call("memHostRegister", /*needsContext=*/true);
    if (call.failed())
      return call.result;
    auto begin = reinterpret_cast<uint64_t>(data);
    auto next = call.state.blocks.lower_bound(begin);
    if (bytes == 0 || call.state.find(begin, 1) ||
        (next != call.state.blocks.end() && next->first < begin + bytes))
      return call.state.wrong("memory registered twice", kAlreadyRegistered);
    call.state.blocks[begin] = {bytes, FakeKind::Registered, contextStack.back()->ordinal};
    return kCudaSuccess;
  }
  static CudaResult memHostUnregister(void *data) {
    return release("memHostUnregister", reinterpret_cast<uint64_t>(data), FakeKind::Registered);
  }
  static CudaResult memHostGetDevicePointer(CudaAddress *address, void *data, unsigned) {
    Call call("memHostGetDevicePointer", /*needsContext=*/true);
    *address = reinterpret_cast<uint64_t>(data);
    if (!call.failed() && !call.state.find(*address, 1))
      return call.state.wrong("the GPU's address of memory that is not pinned");
    return call.result;
  }
  static CudaResult pointerGetAttribute(void *value, int attribute, CudaAddress address) {
    Call call("pointerGetAttribute");
    const FakeBlock *block = call.state.find(address, 1);
    if (call.failed() || !block)
      return call.failed() ? call.result : kCudaInvalidValue;
    bool device = isOnGpu(block->kind);
    switch (attribute) {
    case kCudaPointerMemoryType:
      *static_cast<unsigned *>(value) = device ? kCudaMemoryDevice : kCudaMemoryHost;
      return kCudaSuccess;
    case kCudaPointerIsManaged:
      *static_cast<unsigned *>(value) = 0;
      return kCudaSuccess;
    case kCudaPointerOrdinal:
      *static_cast<int *>(value) = block->ordinal;
      return kCudaSuccess;
    case kCudaPointerHostAddress:
      *static_cast<void **>(value) = reinterpret_cast<void *>(address);
      return device ? kCudaInvalidValue : kCudaSuccess;
    default:
      return kCudaInvalidValue;
    }
  }

  static CudaResult enqueue(Call &call, CudaStream stream,
                            std::function<FakeCuda::Question()> begin, bool mayBeCaptured = true) {
    if (call.failed())
      return call.result;
    if (!call.state.streams.count(stream))
      return call.state.wrong("work for a stream that does not exist");
    if (stream->capture && !mayBeCaptured)
      return kCaptureUnsupported;
    FakeWork work = {std::move(begin), call.state.delay, nullptr};
    if (!stream->capture) {
      stream->work.push_back(std::move(work));
      return kCudaSuccess;
    }
    stream->capture->work.push_back(std::move(work));
    if (auto fork = stream->capture->forks.find(stream); fork != stream->capture->forks.end())
      fork->second = false;
    return kCudaSuccess;
  }
  static CudaResult put(Call &call, CudaStream stream, std::function<void()> run) {
    return enqueue(call, stream, [run = std::move(run)] {
      run();
      return [] { return true; };
    });
  }
  // Waits like the driver, and releases the lock in between.
  static CudaResult finish(CudaStream stream) {
    while (true) {
      {
        State &state = *fake.load();
        std::lock_guard<std::mutex> lock(state.mutex);
        if (!state.streams.count(stream))
          return state.wrong("a stream waited for that does not exist");
        if (stream->capture)
          return kCaptureUnsupported;
        if (state.advance(*stream))
          return kCudaSuccess;
      }
      std::this_thread::yield();
    }
  }
  static CudaResult copy(Call &call, uint64_t to, uint64_t from, size_t bytes, CudaStream stream) {
    if (!call.failed() && !(call.state.find(to, bytes) && call.state.find(from, bytes)))
      return call.state.wrong("a copy of memory that is neither the GPU's nor pinned");
    return put(call, stream, [=] {
      std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    });
  }
  static CudaResult memcpyAsync(CudaAddress to, CudaAddress from, size_t bytes, CudaStream stream) {
    Call call("memcpyAsync", /*needsContext=*/true);
    return copy(call, to, from, bytes, stream);
  }
  static CudaResult memcpyHtoDAsync(CudaAddress to, const void *from, size_t bytes,
                                    CudaStream stream) {
    Call call("memcpyHtoDAsync", /*needsContext=*/true);
    return copy(call, to, reinterpret_cast<uint64_t>(from), bytes, stream);
  }
  static CudaResult memcpyDtoHAsync(void *to, CudaAddress from, size_t bytes, CudaStream stream) {
    Call call("memcpyDtoHAsync", /*needsContext=*/true);
    return copy(call, reinterpret_cast<uint64_t>(to), from, bytes, stream);
  }
  static CudaResult memsetD8Async(CudaAddress to, unsigned char value, size_t bytes,
                                  CudaStream stream) {
    Call call("memsetD8Async", /*needsContext=*/true);
    if (!call.failed() && !call.state.find(to, bytes))
      return call.state.wrong("memory set that is not the GPU's");
    return put(call, stream, [=] { std::memset(reinterpret_cast<void *>(to), value, bytes); });
  }

  static CudaResult memcpy2DAsync(const CudaCopy2D *copy, CudaStream stream) {
    Call call("memcpy2DAsync", /*needsContext=*/true);
    CudaCopy2D c = *copy;
    if (c.rows == 0 || c.bytes == 0)
      return call.result;
    if (!call.failed() && (c.bytes > c.srcPitch || c.bytes > c.dstPitch ||
                           !call.state.find(c.src, (c.rows - 1) * c.srcPitch + c.bytes) ||
                           !call.state.find(c.dst, (c.rows - 1) * c.dstPitch + c.bytes)))
      return call.state.wrong("a copy of rows that are not in GPU memory");
    return put(call, stream, [c] {
      for (size_t row = 0; row < c.rows; ++row)
        std::memcpy(reinterpret_cast<char *>(c.dst) + row * c.dstPitch,
                    reinterpret_cast<const char *>(c.src) + row * c.srcPitch, c.bytes);
    });
  }

  static CudaResult streamCreate(CudaStream *stream, unsigned) {
    Call call("streamCreate", /*needsContext=*/true);
    if (call.failed())
      return call.result;
    auto made = std::make_unique<CudaStreamTag>();
    made->ordinal = contextStack.back()->ordinal;
    made->id = ++call.state.streamsMade;
    *stream = made.get();
    call.state.streams[made.get()] = std::move(made);
    return kCudaSuccess;
  }
  static CudaResult streamCreateWithPriority(CudaStream *stream, unsigned flags, int) {
    return streamCreate(stream, flags);
  }
  static CudaResult streamDestroy(CudaStream stream) {
    if (CudaResult result = finish(stream); result != kCudaSuccess)
      return result;
    Call call("streamDestroy", /*needsContext=*/true);
    call.state.streams.erase(stream);
    return call.result;
  }
  static CudaResult streamGetId(CudaStream stream, unsigned long long *id) {
    Call call("streamGetId", /*needsContext=*/true);
    if (call.failed())
      return call.result;
    if (!call.state.streams.count(stream))
      return call.state.wrong("the number of a stream that does not exist");
    *id = stream->id;
    return kCudaSuccess;
  }
  static CudaResult streamSynchronize(CudaStream stream) {
    if (Call call("streamSynchronize", /*needsContext=*/true); call.failed())
      return call.result;
    return finish(stream);
  }
  // Joins the capture that the event is in; work that was captured there so far comes first anyway.
  static CudaResult follow(Call &call, CudaStream stream, const CudaEventTag &event) {
    if (stream->capture && stream->capture != event.capture)
      return kCaptureUnsupported;
    if (!stream->capture) {
      stream->capture = event.capture;
      event.capture->forks[stream] = false;
    } else if (auto fork = event.capture->forks.find(event.stream);
               fork != event.capture->forks.end()) {
      fork->second = true;
    }
    return call.result;
  }
  static CudaResult streamWaitEvent(CudaStream stream, CudaEvent event, unsigned) {
    Call call("streamWaitEvent", /*needsContext=*/true);
    if (!call.failed() && event->capture)
      return follow(call, stream, *event);
    return enqueue(
        call, stream, [done = event->done] { return [done] { return *done; }; },
        /*mayBeCaptured=*/false);
  }

  static CudaResult streamWaitValue(CudaStream stream, CudaAddress word, uint32_t value, unsigned) {
    Call call("streamWaitValue", /*needsContext=*/true);
    if (!call.failed() && !call.state.find(word, sizeof(uint32_t)))
      return call.state.wrong("a wait for a word that is neither the GPU's nor pinned");
    return enqueue(
        call, stream,
        [=] {
          return [=] {
            const uint32_t is =
                __atomic_load_n(reinterpret_cast<const uint32_t *>(word), __ATOMIC_ACQUIRE);
            return static_cast<int32_t>(is - value) >= 0;
          };
        },
        /*mayBeCaptured=*/false);
  }

  static CudaResult streamBeginCapture(CudaStream stream, int) {
    Call call("streamBeginCapture", /*needsContext=*/true);
    if (!call.failed())
      stream->capture = std::make_shared<CudaGraphTag>();
    captures += call.failed() ? 0 : 1;
    return call.result;
  }
  static CudaResult streamEndCapture(CudaStream stream, CudaGraph *graph) {
    Call call("streamEndCapture", /*needsContext=*/true);
    *graph = nullptr;
    if (!stream->capture || stream->capture->forks.count(stream))
      return call.state.wrong("a capture ended that had not begun");
    const std::shared_ptr<CudaGraphTag> captured = std::move(stream->capture);
    --captures;
    bool isJoined = true;
    for (auto &[fork, waitedFor] : captured->forks) {
      isJoined &= waitedFor;
      if (call.state.streams.count(fork))
        fork->capture = nullptr;
    }
    for (auto &[event, owned] : call.state.events)
      if (event->capture == captured)
        event->capture = nullptr;
    if (!isJoined)
      return kCaptureUnjoined;
    *graph = captured.get();
    call.state.graphs[*graph] = captured;
    return call.result;
  }
  static CudaResult streamIsCapturing(CudaStream stream, int *capturing) {
    Call call("streamIsCapturing");
    *capturing = stream->capture ? 1 : kCudaNotCapturing;
    return call.result;
  }
  static CudaResult threadExchangeCaptureMode(int *mode) {
    std::swap(captureMode, *mode);
    return Call("threadExchangeCaptureMode").result;
  }
  static CudaResult graphInstantiate(CudaGraphExec *exec, CudaGraph graph, unsigned long long) {
    Call call("graphInstantiate", /*needsContext=*/true);
    if (call.failed())
      return call.result;
    auto made = std::make_unique<CudaGraphExecTag>(CudaGraphExecTag{graph->work});
    *exec = made.get();
    call.state.execs[*exec] = std::move(made);
    return kCudaSuccess;
  }
  static CudaResult graphLaunch(CudaGraphExec exec, CudaStream stream) {
    Call call("graphLaunch", /*needsContext=*/true);
    if (!call.failed())
      stream->work.insert(stream->work.end(), exec->work.begin(), exec->work.end());
    return call.result;
  }
  static CudaResult graphExecDestroy(CudaGraphExec exec) {
    Call call("graphExecDestroy", /*needsContext=*/true);
    return call.state.execs.erase(exec) ? call.result : call.state.wrong("an unknown graph");
  }
  static CudaResult graphDestroy(CudaGraph graph) {
    Call call("graphDestroy", /*needsContext=*/true);
    return call.state.graphs.erase(graph) ? call.result : call.state.wrong("an unknown graph");
  }

  static CudaResult eventCreate(CudaEvent *event, unsigned) {
    Call call("eventCreate", /*needsContext=*/true);
    if (call.failed())
      return call.result;
    auto made = std::make_unique<CudaEventTag>();
    *event = made.get();
    call.state.events[made.get()] = std::move(made);
    return kCudaSuccess;
  }
  static CudaResult eventDestroy(CudaEvent event) {
    Call call("eventDestroy", /*needsContext=*/true);
    if (!call.state.events.erase(event))
      return call.state.wrong("an event destroyed that does not exist");
    return call.result;
  }
  static CudaResult eventRecord(CudaEvent event, CudaStream stream) {
    Call call("eventRecord", /*needsContext=*/true);
    if (!call.failed() && call.state.streams.count(stream) && stream->capture) {
      event->stream = stream;
      event->capture = stream->capture;
      return call.result;
    }
    auto done = std::make_shared<bool>(false);
    CudaResult result = enqueue(
        call, stream,
        [done] {
          *done = true;
          return [] { return true; };
        },
        /*mayBeCaptured=*/false);
    if (result == kCudaSuccess) {
      event->stream = stream;
      event->done = done;
      event->capture = nullptr;
    }
    return result;
  }
  static CudaResult eventQuery(CudaEvent event) {
    Call call("eventQuery", /*needsContext=*/true);
    if (captures > 0 && captureMode != kCudaCaptureRelaxed)
      return call.state.wrong("an event asked for inside a capture", kCaptureUnsupported);
    if (!*event->done && call.state.streams.count(event->stream))
      call.state.advance(*event->stream);
    return call.failed() ? call.result : *event->done ? kCudaSuccess : kCudaNotReady;
  }

  static CudaResult eventElapsedTime(float *milliseconds, CudaEvent, CudaEvent) {
    *milliseconds = 1;
    return Call("eventElapsedTime", /*needsContext=*/true).result;
  }

  static CudaResult memGetHandleForAddressRange(void *handle, CudaAddress address, size_t bytes,
                                                int handleType, unsigned long long) {
    Call call("memGetHandleForAddressRange");
    if (call.failed())
      return call.result;
    if (handleType != kCudaHandleDmabuf || address % 4096 || bytes % 4096)
      return call.state.wrong("a dmabuf of a range that is not of whole pages");
    *static_cast<int *>(handle) = memfd_create("fake dmabuf", MFD_CLOEXEC);
    return kCudaSuccess;
  }
  static CudaResult moduleGetLoadingMode(int *mode) {
    Call call("moduleGetLoadingMode");
    *mode = kCudaLoadingEager + (call.state.loadsLazily ? 1 : 0);
    return call.result;
  }
};

FakeCuda::FakeCuda(int numDevices) : state_(std::make_unique<State>()) {
  state_->numDevices = numDevices < kMaxDevices ? numDevices : kMaxDevices;
  for (int i = 0; i < kMaxDevices; ++i)
    state_->contexts[i].ordinal = i;
#define COLL_CUDA_FAKE(member, symbol, parameters) state_->table.member = FakeCudaFunctions::member;
  COLL_CUDA_FUNCTIONS(COLL_CUDA_FAKE)
  COLL_CUDA_OPTIONAL_FUNCTIONS(COLL_CUDA_FAKE)
#undef COLL_CUDA_FAKE
  FakeCudaFunctions::fake = state_.get();
}

FakeCuda::~FakeCuda() {
  FakeCudaFunctions::fake = nullptr;
  FakeCudaFunctions::contextStack.clear();
  for (auto &[address, block] : state_->blocks)
    FakeCudaFunctions::discard(address, block);
  for (auto &[memory, physical] : state_->physical)
    close(physical.fd);
}

const Cuda &FakeCuda::table() const { return state_->table; }

void *FakeCuda::allocate(uint64_t bytes, int ordinal) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return reinterpret_cast<void *>(
      FakeCudaFunctions::allocate(*state_, bytes, FakeKind::Device, ordinal));
}

void FakeCuda::free(void *data) {
  (void)FakeCudaFunctions::release(reinterpret_cast<uint64_t>(data), FakeKind::Device);
}

void FakeCuda::setCurrent(int ordinal) {
  FakeCudaBase::contextStack.assign(1, &state_->contexts[ordinal]);
}

void FakeCuda::failNext(const std::string &function, CudaResult result, int skip, int times) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->failures[function] = {result, skip, times};
}

void FakeCuda::delayCopies(int queries) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->delay = queries;
}

void FakeCuda::loadLazily(bool lazily) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->loadsLazily = lazily;
}

int64_t FakeCuda::calls(const std::string &function) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto it = state_->calls.find(function);
  return it == state_->calls.end() ? 0 : it->second;
}

int64_t FakeCuda::liveAllocations() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return static_cast<int64_t>(state_->blocks.size() + state_->streams.size() +
                              state_->events.size() + state_->graphs.size() + state_->execs.size() +
                              state_->physical.size() + state_->reserved.size() +
                              state_->modules.size());
}

CudaResult FakeCuda::enqueue(CudaStream stream, std::function<Question()> begin) {
  FakeCudaFunctions::Call call("enqueue");
  return FakeCudaFunctions::enqueue(call, stream, std::move(begin));
}

int FakeCuda::currentGpu() {
  const std::vector<CudaContext> &stack = FakeCudaBase::contextStack;
  return stack.empty() || !stack.back() ? -1 : stack.back()->ordinal;
}

void *FakeCuda::allocateCurrent(uint64_t bytes) {
  CudaAddress address = 0;
  (void)FakeCudaFunctions::memAlloc(&address, bytes);
  return reinterpret_cast<void *>(address);
}

void FakeCuda::freeCurrent(void *data) {
  (void)FakeCudaFunctions::memFree(reinterpret_cast<CudaAddress>(data));
}

int FakeCuda::gpuOf(const void *data, uint64_t bytes) {
  const FakeBlock *block =
      FakeCudaFunctions::fake.load()->find(reinterpret_cast<uint64_t>(data), bytes);
  return block && isOnGpu(block->kind) ? block->ordinal : -1;
}

void FakeCuda::locked(const std::function<void()> &change) {
  std::lock_guard<std::mutex> lock(FakeCudaFunctions::fake.load()->mutex);
  change();
}

std::string FakeCuda::misuse() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->misuse;
}

} // namespace coll::rt::dl
