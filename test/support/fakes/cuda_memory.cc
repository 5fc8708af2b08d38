// The fake driver's memory, which is shared memory if other processes may open it.

#include "test/support/fakes/cuda_state.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace coll::rt::dl {

namespace {

constexpr uint64_t kGranularity = uint64_t(2) << 20;

// The content of a handle for other processes: a descriptor of this process.
struct IpcContent {
  int pid = 0, fd = -1, ordinal = 0, unused = 0;
  uint64_t bytes = 0, inode = 0; // another allocation has another, and so another handle
};

} // namespace

uint64_t FakeCudaBase::allocate(State &state, uint64_t bytes, FakeKind kind, int ordinal) {
  if (kind == FakeKind::Device && bytes >= kShareableBytes) {
    int fd = memfd_create("fake GPU memory", MFD_CLOEXEC);
    void *data = fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? mapShared(fd, bytes)
                                                                          : MAP_FAILED;
    if (data == MAP_FAILED)
      return 0;
    state.blocks[reinterpret_cast<uint64_t>(data)] = {bytes, FakeKind::Shared, ordinal, fd};
    return reinterpret_cast<uint64_t>(data);
  }
  void *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(data, 0xcd, bytes);
  auto address = reinterpret_cast<uint64_t>(data);
  state.blocks[address] = {bytes, kind, ordinal};
  return address;
}
void *FakeCudaBase::mapShared(int fd, uint64_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}
void FakeCudaBase::discard(uint64_t address, const FakeBlock &block) {
  void *data = reinterpret_cast<void *>(address);
  if (block.kind == FakeKind::Shared || block.kind == FakeKind::Opened)
    munmap(data, block.bytes);
  else if (block.kind != FakeKind::Registered)
    std::free(data);
  if (block.fd >= 0)
    close(block.fd);
}
// Waits, like the driver, for all work on the GPU's streams, and releases the lock in between.
CudaResult FakeCudaBase::release(uint64_t address, FakeKind kind) {
  auto deadline = std::chrono::steady_clock::now() + kFreeing;
  while (true) {
    {
      State &state = *fake.load();
      std::lock_guard<std::mutex> lock(state.mutex);
      auto it = state.blocks.find(address);
      const bool isShared = it != state.blocks.end() && it->second.kind == FakeKind::Shared;
      if (it == state.blocks.end() ||
          !(it->second.kind == kind || (kind == FakeKind::Device && isShared)))
        return state.wrong("memory freed that was not allocated");
      if (it->second.opens > 1) {
        --it->second.opens;
        return kCudaSuccess;
      }
      if (state.advanceGpu(it->second.ordinal)) {
        discard(address, it->second);
        state.blocks.erase(it);
        return kCudaSuccess;
      }
      if (std::chrono::steady_clock::now() > deadline)
        return state.wrong("memory freed while the GPU's work does not end");
    }
    std::this_thread::yield();
  }
}
CudaResult FakeCudaBase::release(const char *name, uint64_t address, FakeKind kind) {
  CudaResult called = Call(name, /*needsContext=*/true).result;
  CudaResult released = release(address, kind);
  return called == kCudaSuccess ? released : called;
}

//===-- memory of others --------------------------------------------------------===//

CudaResult FakeCudaPeers::contextSynchronize() {
  while (true) {
    {
      State &state = *fake.load();
      std::lock_guard<std::mutex> lock(state.mutex);
      bool all = true;
      for (auto &[stream, owned] : state.streams)
        all &= stream->capture || state.advance(*stream);
      if (all)
        return kCudaSuccess;
    }
    std::this_thread::yield();
  }
}
CudaResult FakeCudaPeers::deviceCanAccessPeer(int *can, CudaDevice device, CudaDevice peer) {
  Call call("deviceCanAccessPeer");
  *can = device != peer;
  return call.result;
}
CudaResult FakeCudaPeers::deviceGetPeerAttribute(int *value, int, CudaDevice device,
                                                 CudaDevice peer) {
  Call call("deviceGetPeerAttribute");
  *value = device != peer;
  return call.result;
}
CudaResult FakeCudaPeers::contextEnablePeerAccess(CudaContext peer, unsigned) {
  Call call("contextEnablePeerAccess", /*needsContext=*/true);
  if (call.failed())
    return call.result;
  bool &reaches = call.state.peers[contextStack.back()->ordinal][peer->ordinal];
  return std::exchange(reaches, true) ? kCudaPeerAccessAlready : kCudaSuccess;
}
CudaResult FakeCudaPeers::memGetAddressRange(CudaAddress *base, size_t *bytes,
                                             CudaAddress address) {
  Call call("memGetAddressRange");
  const FakeBlock *block = call.state.find(address, 1);
  if (call.failed() || !block)
    return call.failed() ? call.result : kCudaInvalidValue;
  *base = std::prev(call.state.blocks.upper_bound(address))->first;
  *bytes = block->bytes;
  return kCudaSuccess;
}
CudaResult FakeCudaPeers::ipcGetMemHandle(CudaIpcHandle *handle, CudaAddress address) {
  Call call("ipcGetMemHandle", /*needsContext=*/true);
  auto it = call.state.blocks.find(address);
  if (call.failed())
    return call.result;
  if (it == call.state.blocks.end() || it->second.kind != FakeKind::Shared)
    return kCudaInvalidValue; // as of memory that is not of cuMemAlloc
  struct stat memory = {};
  fstat(it->second.fd, &memory);
  const IpcContent content = {getpid(), it->second.fd,    it->second.ordinal,
                              0,        it->second.bytes, memory.st_ino};
  std::memcpy(handle->bytes, &content, sizeof(content));
  return kCudaSuccess;
}
CudaResult FakeCudaPeers::ipcOpenMemHandle(CudaAddress *address, CudaIpcHandle handle, unsigned) {
  Call call("ipcOpenMemHandle", /*needsContext=*/true);
  IpcContent content;
  std::memcpy(&content, handle.bytes, sizeof(content));
  if (call.failed())
    return call.result;
  if (content.pid == getpid())
    return call.state.wrong("a handle opened by its own process", kCudaInvalidContext);
  // A context opens it once, and counts further calls.
  for (auto &[known, block] : call.state.blocks)
    if (block.opener == contextStack.back() &&
        std::memcmp(block.handle.bytes, handle.bytes, sizeof(handle.bytes)) == 0) {
      ++block.opens;
      *address = known;
      return kCudaSuccess;
    }
  std::string path = "/proc/" + std::to_string(content.pid) + "/fd/" + std::to_string(content.fd);
  int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return kCudaInvalidValue;
  void *data = mapShared(fd, content.bytes);
  if (data == MAP_FAILED)
    return kCudaOutOfMemory;
  *address = reinterpret_cast<uint64_t>(data);
  call.state.blocks[*address] = {content.bytes, FakeKind::Opened,    content.ordinal, fd,
                                 handle,        contextStack.back(), /*opens=*/1};
  return kCudaSuccess;
}
CudaResult FakeCudaPeers::ipcCloseMemHandle(CudaAddress address) {
  return release("ipcCloseMemHandle", address, FakeKind::Opened);
}

CudaResult FakeCudaPeers::memGetGranularity(size_t *bytes, const CudaMemoryProperties *, int) {
  *bytes = kGranularity;
  return Call("memGetGranularity").result;
}
CudaResult FakeCudaPeers::memCreate(CudaMemory *memory, size_t bytes,
                                    const CudaMemoryProperties *properties, unsigned long long) {
  Call call("memCreate");
  if (call.failed())
    return call.result;
  int fd = memfd_create("fake GPU memory", MFD_CLOEXEC);
  if (bytes == 0 || bytes % kGranularity || fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0)
    return call.state.wrong("physical memory of a size that is not granular");
  *memory = call.state.nextPhysical++;
  call.state.physical[*memory] = {fd, bytes, properties->location.id};
  return kCudaSuccess;
}
CudaResult FakeCudaPeers::memRelease(CudaMemory memory) {
  Call call("memRelease");
  auto it = call.state.physical.find(memory);
  if (it == call.state.physical.end())
    return call.state.wrong("unknown physical memory released");
  close(it->second.fd);
  call.state.physical.erase(it);
  return call.result;
}
CudaResult FakeCudaPeers::memAddressReserve(CudaAddress *address, size_t bytes, size_t, CudaAddress,
                                            unsigned long long) {
  Call call("memAddressReserve");
  if (call.failed())
    return call.result;
  void *data = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return kCudaOutOfMemory;
  *address = reinterpret_cast<uint64_t>(data);
  call.state.reserved[*address] = bytes;
  return kCudaSuccess;
}
CudaResult FakeCudaPeers::memAddressFree(CudaAddress address, size_t bytes) {
  Call call("memAddressFree");
  auto it = call.state.reserved.find(address);
  if (it == call.state.reserved.end() || it->second != bytes || call.state.blocks.count(address))
    return call.state.wrong("addresses freed that were not reserved, or are in use");
  munmap(reinterpret_cast<void *>(address), bytes);
  call.state.reserved.erase(it);
  return call.result;
}
CudaResult FakeCudaPeers::memMap(CudaAddress address, size_t bytes, size_t, CudaMemory memory,
                                 unsigned long long) {
  Call call("memMap");
  auto it = call.state.physical.find(memory);
  auto range = call.state.reserved.find(address);
  if (call.failed())
    return call.result;
  if (it == call.state.physical.end() || range == call.state.reserved.end() ||
      range->second != bytes || it->second.bytes != bytes)
    return call.state.wrong("physical memory mapped where there is no room for it");
  void *data = mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
                    it->second.fd, 0);
  if (data == MAP_FAILED)
    return kCudaOutOfMemory;
  call.state.blocks[address] = {bytes, FakeKind::Opened, it->second.ordinal, -1};
  return kCudaSuccess;
}
CudaResult FakeCudaPeers::memUnmap(CudaAddress address, size_t bytes) {
  Call call("memUnmap");
  if (call.state.blocks.erase(address) == 0)
    return call.state.wrong("memory unmapped that was not mapped");
  // The addresses stay reserved.
  mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
       -1, 0);
  return call.result;
}
CudaResult FakeCudaPeers::memSetAccess(CudaAddress address, size_t bytes, const CudaAccess *,
                                       size_t) {
  Call call("memSetAccess");
  if (call.failed())
    return call.result;
  if (!call.state.blocks.count(address) ||
      mprotect(reinterpret_cast<void *>(address), bytes, PROT_READ | PROT_WRITE) != 0)
    return call.state.wrong("access to memory that is not mapped");
  return kCudaSuccess;
}
CudaResult FakeCudaPeers::memExport(void *handle, CudaMemory memory, int type, unsigned long long) {
  Call call("memExport");
  auto it = call.state.physical.find(memory);
  if (call.failed())
    return call.result;
  if (it == call.state.physical.end() || type != kCudaHandleDescriptor)
    return call.state.wrong("unknown physical memory exported");
  *static_cast<int *>(handle) = dup(it->second.fd);
  return kCudaSuccess;
}
CudaResult FakeCudaPeers::memImport(CudaMemory *memory, void *handle, int) {
  Call call("memImport");
  int fd = dup(static_cast<int>(reinterpret_cast<intptr_t>(handle)));
  off_t bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
  if (call.failed() || bytes <= 0)
    return call.failed() ? call.result : kCudaInvalidValue;
  *memory = call.state.nextPhysical++;
  call.state.physical[*memory] = {fd, static_cast<uint64_t>(bytes), 0};
  return kCudaSuccess;
}

} // namespace coll::rt::dl
