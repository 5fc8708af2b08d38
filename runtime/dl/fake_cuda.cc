#include "runtime/dl/fake_cuda.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>

namespace coll::rt::dl {

namespace {

constexpr int kMaxDevices = 8;
constexpr CudaResult kAlreadyRegistered = 712;

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

// Something a stream does later: after `delay` more queries.
struct Work {
  std::function<void()> run;
  int delay = 0;
};

} // namespace

struct CudaStreamTag {
  std::deque<Work> work;
};

struct CudaEventTag {
  CudaStreamTag *stream = nullptr;
  bool done = true;
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

  // One step of a stream: what is due runs, what is delayed comes closer.
  void advance(CudaStreamTag &stream) {
    while (!stream.work.empty()) {
      if (stream.work.front().delay-- > 0)
        return;
      stream.work.front().run();
      stream.work.pop_front();
    }
  }
  void finish(CudaStreamTag &stream) {
    for (; !stream.work.empty(); stream.work.pop_front())
      stream.work.front().run();
  }
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
  static CudaResult release(Call &call, uint64_t address, Kind kind) {
    auto it = call.state.blocks.find(address);
    if (it == call.state.blocks.end() || it->second.kind != kind)
      return call.state.wrong("memory freed that was not allocated");
    call.state.blocks.erase(it);
    if (kind != Kind::Registered)
      std::free(reinterpret_cast<void *>(address));
    return call.result;
  }

  static CudaResult memAlloc(CudaAddress *address, size_t bytes) {
    Call call("memAlloc", /*needsContext=*/true);
    if (!call.failed())
      *address = allocate(call.state, bytes, Kind::Device, contextStack.back()->ordinal);
    return call.result;
  }
  static CudaResult memFree(CudaAddress address) {
    Call call("memFree", /*needsContext=*/true);
    return release(call, address, Kind::Device);
  }
  static CudaResult memHostAlloc(void **data, size_t bytes, unsigned) {
    Call call("memHostAlloc", /*needsContext=*/true);
    if (!call.failed())
      *data = reinterpret_cast<void *>(
          allocate(call.state, bytes, Kind::HostAlloc, contextStack.back()->ordinal));
    return call.result;
  }
  static CudaResult memFreeHost(void *data) {
    Call call("memFreeHost", /*needsContext=*/true);
    return release(call, reinterpret_cast<uint64_t>(data), Kind::HostAlloc);
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
    Call call("memHostUnregister", /*needsContext=*/true);
    return release(call, reinterpret_cast<uint64_t>(data), Kind::Registered);
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

  static CudaResult enqueue(Call &call, CudaStream stream, std::function<void()> run) {
    if (call.failed())
      return call.result;
    if (!call.state.streams.count(stream))
      return call.state.wrong("work for a stream that does not exist");
    stream->work.push_back({std::move(run), call.state.delay});
    return kCudaSuccess;
  }
  static CudaResult copy(Call &call, uint64_t to, uint64_t from, size_t bytes, CudaStream stream) {
    if (!call.failed() && !(call.state.find(to, bytes) && call.state.find(from, bytes)))
      return call.state.wrong("a copy of memory that is neither the GPU's nor pinned");
    return enqueue(call, stream, [=] {
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
    return enqueue(call, stream, [=] { std::memset(reinterpret_cast<void *>(to), value, bytes); });
  }

  static CudaResult streamCreate(CudaStream *stream, unsigned) {
    Call call("streamCreate", /*needsContext=*/true);
    if (call.failed())
      return call.result;
    auto made = std::make_unique<CudaStreamTag>();
    *stream = made.get();
    call.state.streams[made.get()] = std::move(made);
    return kCudaSuccess;
  }
  static CudaResult streamDestroy(CudaStream stream) {
    Call call("streamDestroy", /*needsContext=*/true);
    if (!call.state.streams.count(stream))
      return call.state.wrong("a stream destroyed that does not exist");
    call.state.finish(*stream);
    call.state.streams.erase(stream);
    return call.result;
  }
  static CudaResult streamSynchronize(CudaStream stream) {
    Call call("streamSynchronize", /*needsContext=*/true);
    call.state.finish(*stream);
    return call.result;
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
    if (!call.state.events.count(event))
      return call.state.wrong("an event destroyed that does not exist");
    if (event->stream && !event->done)
      call.state.finish(*event->stream); // its work points at the event
    call.state.events.erase(event);
    return call.result;
  }
  static CudaResult eventRecord(CudaEvent event, CudaStream stream) {
    Call call("eventRecord", /*needsContext=*/true);
    CudaResult result = enqueue(call, stream, [event] { event->done = true; });
    if (result == kCudaSuccess) {
      event->stream = stream;
      event->done = false;
    }
    return result;
  }
  static CudaResult eventQuery(CudaEvent event) {
    Call call("eventQuery", /*needsContext=*/true);
    if (event->stream && !event->done)
      call.state.advance(*event->stream);
    return call.failed() ? call.result : event->done ? kCudaSuccess : kCudaNotReady;
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
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->blocks.erase(reinterpret_cast<uint64_t>(data));
  std::free(data);
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
                              state_->events.size());
}

std::string FakeCuda::misuse() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->misuse;
}

} // namespace coll::rt::dl
