#include "runtime/dl/fake_cuda.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace coll::rt::dl {

namespace {

constexpr int kMaxDevices = 8;
constexpr CudaResult kAlreadyRegistered = 712;
constexpr CudaResult kCaptureUnsupported = 900;
// Longest that memory is freed for; a driver would wait for ever.
constexpr std::chrono::seconds kFreeing(10);

enum class Kind { Device, HostAlloc, Registered };

struct Block {
  uint64_t bytes = 0;
  Kind kind = Kind::Device;
  int ordinal = 0;
};

struct Failure {
  CudaResult result = 0;
  int skip = 0;
};

// Something a stream does later: it begins after `delay` more queries, and is done once the
// question that it begins with is answered with yes.
struct Work {
  std::function<FakeCuda::Question()> begin;
  int delay = 0;
  FakeCuda::Question done;
};

} // namespace

struct CudaGraphTag {
  std::vector<Work> work;
};

struct CudaGraphExecTag {
  std::vector<Work> work;
};

struct CudaStreamTag {
  int ordinal = 0;
  std::deque<Work> work;
  std::unique_ptr<CudaGraphTag> capture;
};

struct CudaEventTag {
  CudaStreamTag *stream = nullptr;
  std::shared_ptr<bool> done = std::make_shared<bool>(true); // of the last record
};

struct CudaContextTag {
  int ordinal = 0;
  int retained = 0;
};

struct FakeCuda::State {
  mutable std::mutex mutex;
  Cuda table;
  int numDevices = 0;
  CudaContextTag contexts[kMaxDevices];
  std::map<uint64_t, Block> blocks; // by first address
  std::map<CudaStreamTag *, std::unique_ptr<CudaStreamTag>> streams;
  std::map<CudaEventTag *, std::unique_ptr<CudaEventTag>> events;
  std::map<CudaGraphTag *, std::unique_ptr<CudaGraphTag>> graphs;
  std::map<CudaGraphExecTag *, std::unique_ptr<CudaGraphExecTag>> execs;
  std::map<std::string, Failure> failures;
  std::map<std::string, int64_t> calls;
  int delay = 0;
  std::string misuse;

  // The block that holds [address, address + bytes), or null.
  const Block *find(uint64_t address, uint64_t bytes) const {
    auto it = blocks.upper_bound(address);
    if (it == blocks.begin())
      return nullptr;
    --it;
    uint64_t offset = address - it->first;
    return offset <= it->second.bytes && bytes <= it->second.bytes - offset ? &it->second : nullptr;
  }

  CudaResult wrong(const std::string &what, CudaResult result = kCudaInvalidValue) {
    if (misuse.empty())
      misuse = what;
    return result;
  }

  // One step of a stream: what is due runs, what is delayed comes closer. True once it is
  // empty.
  bool advance(CudaStreamTag &stream) {
    while (!stream.work.empty()) {
      Work &front = stream.work.front();
      if (!front.done && front.delay-- > 0)
        return false;
      if (!front.done)
        front.done = front.begin();
      if (!front.done()) {
        helpOthers(stream);
        if (!front.done())
          return false;
      }
      stream.work.pop_front();
    }
    return true;
  }

  // One step of all streams of a GPU. True once they are empty.
  bool advanceGpu(int ordinal) {
    bool isIdle = true;
    for (auto &[stream, owned] : streams)
      if (stream->ordinal == ordinal)
        isIdle &= advance(*stream);
    return isIdle;
  }

  // The stream waits for others: they move on, as on a GPU they would by themselves.
  void helpOthers(CudaStreamTag &waiting) {
    if (helping)
      return;
    helping = true;
    for (auto &[other, owned] : streams)
      if (other != &waiting)
        advance(*other);
    helping = false;
  }
  bool helping = false;
};

namespace {

thread_local std::vector<CudaContext> contextStack;

} // namespace

// The driver's functions. Each opens with a Call: counted, locked, and failed if the
// test wants it to.
struct FakeCudaFunctions {
  using State = FakeCuda::State;
  static inline std::atomic<State *> fake{nullptr};

  struct Call {
    explicit Call(const char *name, bool needsContext = false)
        : state(*fake.load()), lock(state.mutex) {
      ++state.calls[name];
      auto it = state.failures.find(name);
      if (it != state.failures.end() && it->second.skip-- == 0) {
        result = it->second.result;
        state.failures.erase(it);
      } else if (needsContext && (contextStack.empty() || !contextStack.back())) {
        result = state.wrong(std::string(name) + " without a context", kCudaInvalidContext);
      }
    }
    bool failed() const { return result != kCudaSuccess; }

    State &state;
    std::lock_guard<std::mutex> lock;
    CudaResult result = kCudaSuccess;
  };

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

  static uint64_t allocate(State &state, uint64_t bytes, Kind kind, int ordinal) {
    void *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(data, 0xcd, bytes);
    auto address = reinterpret_cast<uint64_t>(data);
    state.blocks[address] = {bytes, kind, ordinal};
    return address;
  }
  // Waits, as the driver does, for all that is on the GPU's streams, with the lock given back
  // in between.
  static CudaResult release(uint64_t address, Kind kind) {
    auto deadline = std::chrono::steady_clock::now() + kFreeing;
    while (true) {
      {
        State &state = *fake.load();
        std::lock_guard<std::mutex> lock(state.mutex);
        auto it = state.blocks.find(address);
        if (it == state.blocks.end() || it->second.kind != kind)
          return state.wrong("memory freed that was not allocated");
        if (state.advanceGpu(it->second.ordinal)) {
          state.blocks.erase(it);
          if (kind != Kind::Registered)
            std::free(reinterpret_cast<void *>(address));
          return kCudaSuccess;
        }
        if (std::chrono::steady_clock::now() > deadline)
          return state.wrong("memory freed while the GPU's work does not end");
      }
      std::this_thread::yield();
    }
  }
  static CudaResult release(const char *name, uint64_t address, Kind kind) {
    CudaResult called = Call(name, /*needsContext=*/true).result;
    CudaResult released = release(address, kind);
    return called == kCudaSuccess ? released : called;
  }

  static CudaResult memAlloc(CudaAddress *address, size_t bytes) {
    Call call("memAlloc", /*needsContext=*/true);
    if (!call.failed())
      *address = allocate(call.state, bytes, Kind::Device, contextStack.back()->ordinal);
    return call.result;
  }
  static CudaResult memFree(CudaAddress address) {
    return release("memFree", address, Kind::Device);
  }
  static CudaResult memHostAlloc(void **data, size_t bytes, unsigned) {
    Call call("memHostAlloc", /*needsContext=*/true);
    if (!call.failed())
      *data = reinterpret_cast<void *>(
          allocate(call.state, bytes, Kind::HostAlloc, contextStack.back()->ordinal));
    return call.result;
  }
  static CudaResult memFreeHost(void *data) {
    return release("memFreeHost", reinterpret_cast<uint64_t>(data), Kind::HostAlloc);
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
    call.state.blocks[begin] = {bytes, Kind::Registered, contextStack.back()->ordinal};
    return kCudaSuccess;
  }
  static CudaResult memHostUnregister(void *data) {
    return release("memHostUnregister", reinterpret_cast<uint64_t>(data), Kind::Registered);
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
    const Block *block = call.state.find(address, 1);
    if (call.failed() || !block)
      return call.failed() ? call.result : kCudaInvalidValue;
    bool device = block->kind == Kind::Device;
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
    Work work = {std::move(begin), call.state.delay, nullptr};
    if (stream->capture)
      stream->capture->work.push_back(std::move(work));
    else
      stream->work.push_back(std::move(work));
    return kCudaSuccess;
  }
  static CudaResult put(Call &call, CudaStream stream, std::function<void()> run) {
    return enqueue(call, stream, [run = std::move(run)] {
      run();
      return [] { return true; };
    });
  }
  // Waits as the driver does, with the lock given back in between.
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
    *stream = made.get();
    call.state.streams[made.get()] = std::move(made);
    return kCudaSuccess;
  }
  static CudaResult streamDestroy(CudaStream stream) {
    if (CudaResult result = finish(stream); result != kCudaSuccess)
      return result;
    Call call("streamDestroy", /*needsContext=*/true);
    call.state.streams.erase(stream);
    return call.result;
  }
  static CudaResult streamSynchronize(CudaStream stream) {
    if (Call call("streamSynchronize", /*needsContext=*/true); call.failed())
      return call.result;
    return finish(stream);
  }
  static CudaResult streamWaitEvent(CudaStream stream, CudaEvent event, unsigned) {
    Call call("streamWaitEvent", /*needsContext=*/true);
    return enqueue(
        call, stream, [done = event->done] { return [done] { return *done; }; },
        /*mayBeCaptured=*/false);
  }

  static CudaResult streamBeginCapture(CudaStream stream, int) {
    Call call("streamBeginCapture", /*needsContext=*/true);
    if (!call.failed())
      stream->capture = std::make_unique<CudaGraphTag>();
    return call.result;
  }
  static CudaResult streamEndCapture(CudaStream stream, CudaGraph *graph) {
    Call call("streamEndCapture", /*needsContext=*/true);
    *graph = nullptr;
    if (!stream->capture)
      return call.state.wrong("a capture ended that had not begun");
    *graph = stream->capture.get();
    call.state.graphs[*graph] = std::move(stream->capture);
    return call.result;
  }
  static CudaResult streamIsCapturing(CudaStream stream, int *capturing) {
    Call call("streamIsCapturing");
    *capturing = stream->capture ? 1 : kCudaNotCapturing;
    return call.result;
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
    }
    return result;
  }
  static CudaResult eventQuery(CudaEvent event) {
    Call call("eventQuery", /*needsContext=*/true);
    if (!*event->done && call.state.streams.count(event->stream))
      call.state.advance(*event->stream);
    return call.failed() ? call.result : *event->done ? kCudaSuccess : kCudaNotReady;
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
    *mode = kCudaLoadingEager;
    return Call("moduleGetLoadingMode").result;
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
  contextStack.clear();
  for (auto &[address, block] : state_->blocks)
    if (block.kind != Kind::Registered)
      std::free(reinterpret_cast<void *>(address));
}

const Cuda &FakeCuda::table() const { return state_->table; }

void *FakeCuda::allocate(uint64_t bytes, int ordinal) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return reinterpret_cast<void *>(
      FakeCudaFunctions::allocate(*state_, bytes, Kind::Device, ordinal));
}

void FakeCuda::free(void *data) {
  (void)FakeCudaFunctions::release(reinterpret_cast<uint64_t>(data), Kind::Device);
}

void FakeCuda::setCurrent(int ordinal) { contextStack.assign(1, &state_->contexts[ordinal]); }

void FakeCuda::failNext(const std::string &function, CudaResult result, int skip) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->failures[function] = {result, skip};
}

void FakeCuda::delayCopies(int queries) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->delay = queries;
}

int64_t FakeCuda::calls(const std::string &function) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto it = state_->calls.find(function);
  return it == state_->calls.end() ? 0 : it->second;
}

int64_t FakeCuda::liveAllocations() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return static_cast<int64_t>(state_->blocks.size() + state_->streams.size() +
                              state_->events.size() + state_->graphs.size() + state_->execs.size());
}

CudaResult FakeCuda::enqueue(CudaStream stream, std::function<Question()> begin) {
  FakeCudaFunctions::Call call("enqueue");
  return FakeCudaFunctions::enqueue(call, stream, std::move(begin));
}

int FakeCuda::currentGpu() {
  return contextStack.empty() || !contextStack.back() ? -1 : contextStack.back()->ordinal;
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
  const Block *block =
      FakeCudaFunctions::fake.load()->find(reinterpret_cast<uint64_t>(data), bytes);
  return block && block->kind == Kind::Device ? block->ordinal : -1;
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
