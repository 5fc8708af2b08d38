// cuda_state.h - the state that the parts of the fake driver share; only for their own files.

#ifndef COLL_TEST_SUPPORT_FAKES_CUDA_STATE_H
#define COLL_TEST_SUPPORT_FAKES_CUDA_STATE_H

#include "test/support/fakes/cuda.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace coll::rt::dl {

inline constexpr int kMaxDevices = 8;
inline constexpr CudaResult kAlreadyRegistered = 712;
inline constexpr CudaResult kCaptureUnsupported = 900;
inline constexpr CudaResult kCaptureUnjoined = 904;
// The longest wait when memory is freed; a driver would wait forever.
inline constexpr std::chrono::seconds kFreeing(10);

// Shared: GPU memory that other processes can open; Opened: such memory of another process, or
// mapped physical memory.
enum class FakeKind { Device, HostAlloc, Registered, Shared, Opened };
// GPU memory from this size on can be opened by other processes.
inline constexpr uint64_t kShareableBytes = uint64_t(1) << 20;

inline bool isOnGpu(FakeKind kind) { return kind == FakeKind::Device || kind >= FakeKind::Shared; }

struct FakeBlock {
  uint64_t bytes = 0;
  FakeKind kind = FakeKind::Device;
  int ordinal = 0;
  int fd = -1; // of shared memory
  // For Opened by a handle: the handle, the context, and how often.
  CudaIpcHandle handle = {};
  CudaContext opener = nullptr;
  int opens = 0;
};

// Physical memory, which is shared memory; freed when it is not mapped anywhere.
struct FakePhysical {
  int fd = -1;
  uint64_t bytes = 0;
  int ordinal = 0;
};

struct FakeFailure {
  CudaResult result = 0;
  int skip = 0, times = 1;
};

// Work that a stream does later: it begins after `delay` more queries, and is done once the
// function that its beginning returned says so.
struct FakeWork {
  std::function<FakeCuda::Question()> begin;
  int delay = 0;
  FakeCuda::Question done;
};

// Work is replayed in the order in which it was captured, one item after the other; the events of
// all its streams permit this order.
struct CudaGraphTag {
  std::vector<FakeWork> work;
  // Streams that an event brought into the capture, and whether its first stream has waited for the
  // last work of each.
  std::map<CudaStreamTag *, bool> forks;
};

struct CudaGraphExecTag {
  std::vector<FakeWork> work;
};

struct CudaStreamTag {
  int ordinal = 0;
  unsigned long long id = 0;
  std::deque<FakeWork> work;
  std::shared_ptr<CudaGraphTag> capture;
};

struct CudaEventTag {
  CudaStreamTag *stream = nullptr;
  std::shared_ptr<bool> done = std::make_shared<bool>(true); // of the last record
  std::shared_ptr<CudaGraphTag> capture;                     // that the last record is in
};

struct CudaModuleTag {
  int ordinal = 0;
};

struct CudaFunctionTag {
  std::vector<size_t> parameterBytes;
  std::function<void(const FakeLaunch &)> run;
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
  std::map<uint64_t, FakeBlock> blocks; // by first address
  std::map<CudaMemory, FakePhysical> physical;
  CudaMemory nextPhysical = 1;
  std::map<uint64_t, uint64_t> reserved;     // addresses without memory
  bool peers[kMaxDevices][kMaxDevices] = {}; // whose memory a GPU reaches
  std::map<CudaStreamTag *, std::unique_ptr<CudaStreamTag>> streams;
  unsigned long long streamsMade = 0;
  std::map<CudaEventTag *, std::unique_ptr<CudaEventTag>> events;
  std::map<CudaGraphTag *, std::shared_ptr<CudaGraphTag>> graphs;
  std::map<CudaGraphExecTag *, std::unique_ptr<CudaGraphExecTag>> execs;
  std::map<CudaModuleTag *, std::unique_ptr<CudaModuleTag>> modules;
  std::map<std::string, CudaFunctionTag> kernels; // by name
  std::map<std::string, FakeFailure> failures;
  std::map<std::string, int64_t> calls;
  int delay = 0;
  bool loadsLazily = false;
  std::string misuse;

  // The block that holds [address, address + bytes), or null.
  const FakeBlock *find(uint64_t address, uint64_t bytes) const {
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

  // Makes one step of a stream: work that is due runs, and delayed work gets closer. Returns true
  // once the stream is empty.
  bool advance(CudaStreamTag &stream) {
    while (!stream.work.empty()) {
      FakeWork &front = stream.work.front();
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

  // Makes one step of all streams of a GPU. Returns true once they are empty.
  bool advanceGpu(int ordinal) {
    bool isIdle = true;
    for (auto &[stream, owned] : streams)
      if (stream->ordinal == ordinal)
        isIdle &= advance(*stream);
    return isIdle;
  }

  // The stream waits for others, so they make progress, as they would on a GPU by themselves.
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

// The base of the driver's functions. Each function begins with a Call: it is counted, locked, and
// fails if the test asked for that.
struct FakeCudaBase {
  using State = FakeCuda::State;
  static inline std::atomic<State *> fake{nullptr};
  static inline thread_local std::vector<CudaContext> contextStack;
  // For this thread: captures in progress, and their mode, which restricts the thread's calls.
  static inline thread_local int captures = 0, captureMode = 0;

  struct Call {
    explicit Call(const char *name, bool needsContext = false)
        : state(*fake.load()), lock(state.mutex) {
      ++state.calls[name];
      auto it = state.failures.find(name);
      if (it != state.failures.end() && it->second.skip-- <= 0) {
        result = it->second.result;
        if (--it->second.times == 0)
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

  static uint64_t allocate(State &state, uint64_t bytes, FakeKind kind, int ordinal);
  static void *mapShared(int fd, uint64_t bytes);
  static void discard(uint64_t address, const FakeBlock &block);
  // Waits, like the driver, for all work on the GPU's streams.
  static CudaResult release(uint64_t address, FakeKind kind);
  static CudaResult release(const char *name, uint64_t address, FakeKind kind);
};

// Modules and kernels, and setting memory.
struct FakeCudaKernels : FakeCudaBase {
  static CudaResult memsetD16Async(CudaAddress to, unsigned short value, size_t count,
                                   CudaStream stream);
  static CudaResult memsetD32Async(CudaAddress to, unsigned value, size_t count, CudaStream stream);
  static CudaResult memset2DD32Async(CudaAddress to, size_t pitch, unsigned value, size_t width,
                                     size_t rows, CudaStream stream);
  static CudaResult memGetInfo(size_t *free, size_t *total);
  static CudaResult moduleLoad(CudaModule *module, const void *image, unsigned numOptions,
                               int *options, void **values);
  static CudaResult moduleUnload(CudaModule module);
  static CudaResult moduleGetFunction(CudaFunction *function, CudaModule module, const char *name);
  static CudaResult functionSetAttribute(CudaFunction function, int attribute, int value);
  static CudaResult launchKernel(CudaFunction function, unsigned gridX, unsigned gridY,
                                 unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                                 unsigned sharedBytes, CudaStream stream, void **parameters,
                                 void **extra);
};

// Memory of other GPUs and other processes.
struct FakeCudaPeers : FakeCudaKernels {
  static CudaResult contextSynchronize();
  static CudaResult deviceCanAccessPeer(int *can, CudaDevice device, CudaDevice peer);
  static CudaResult deviceGetPeerAttribute(int *value, int attribute, CudaDevice device,
                                           CudaDevice peer);
  static CudaResult contextEnablePeerAccess(CudaContext peer, unsigned);
  static CudaResult memGetAddressRange(CudaAddress *base, size_t *bytes, CudaAddress address);
  static CudaResult ipcGetMemHandle(CudaIpcHandle *handle, CudaAddress address);
  static CudaResult ipcOpenMemHandle(CudaAddress *address, CudaIpcHandle handle, unsigned);
  static CudaResult ipcCloseMemHandle(CudaAddress address);
  static CudaResult memGetGranularity(size_t *bytes, const CudaMemoryProperties *, int);
  static CudaResult memCreate(CudaMemory *memory, size_t bytes,
                              const CudaMemoryProperties *properties, unsigned long long);
  static CudaResult memRelease(CudaMemory memory);
  static CudaResult memAddressReserve(CudaAddress *address, size_t bytes, size_t, CudaAddress,
                                      unsigned long long);
  static CudaResult memAddressFree(CudaAddress address, size_t bytes);
  static CudaResult memMap(CudaAddress address, size_t bytes, size_t, CudaMemory memory,
                           unsigned long long);
  static CudaResult memUnmap(CudaAddress address, size_t bytes);
  static CudaResult memSetAccess(CudaAddress address, size_t bytes, const CudaAccess *, size_t);
  static CudaResult memExport(void *handle, CudaMemory memory, int type, unsigned long long);
  static CudaResult memImport(CudaMemory *memory, void *handle, int);
};

} // namespace coll::rt::dl

#endif // COLL_TEST_SUPPORT_FAKES_CUDA_STATE_H
