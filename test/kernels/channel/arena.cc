#include "test/kernels/channel/arena.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

namespace coll::kernels::test {

namespace dl = rt::dl;
using rt::Result;
using rt::Status;

uint8_t *HostArena::pinned(size_t bytes) {
  const size_t rounded = (bytes / 128 + 1) * 128;
  memory_.emplace_back(static_cast<uint8_t *>(std::aligned_alloc(128, rounded)), &std::free);
  std::memset(memory_.back().get(), 0, rounded);
  return memory_.back().get();
}

void HostArena::copyIn(void *device, const void *from, size_t bytes) {
  std::memcpy(device, from, bytes);
}

void HostArena::copyOut(void *to, const void *device, size_t bytes) {
  std::memcpy(to, device, bytes);
}

std::unique_ptr<GpuArena> GpuArena::open(std::string &whyNot) {
  Result<const dl::Cuda *> cuda = dl::cuda();
  if (!cuda.ok()) {
    whyNot = cuda.status().message();
    return nullptr;
  }
  std::unique_ptr<GpuArena> arena(new GpuArena(**cuda));
  if (const Status started = arena->start(); !started.ok()) {
    whyNot = started.message();
    return nullptr;
  }
  return arena;
}

Status GpuArena::start() {
  dl::CudaContext context = nullptr;
  COLL_RETURN_IF_ERROR(
      dl::cudaStatus(cuda_, cuda_.primaryContextRetain(&context, 0), "primaryContextRetain"));
  COLL_RETURN_IF_ERROR(
      dl::cudaStatus(cuda_, cuda_.contextSetCurrent(context), "contextSetCurrent"));
  for (dl::CudaStream *stream : {&stream_, &copies_})
    COLL_RETURN_IF_ERROR(dl::cudaStatus(
        cuda_, cuda_.streamCreate(stream, dl::kCudaStreamNonBlocking), "streamCreate"));
  return {};
}

GpuArena::~GpuArena() {
  finish();
  for (dl::CudaAddress memory : device_)
    check(cuda_.memFree(memory), "memFree");
  for (void *memory : pinned_)
    check(cuda_.memFreeHost(memory), "memFreeHost");
  for (dl::CudaStream stream : {stream_, copies_})
    if (stream)
      cuda_.streamDestroy(stream);
}

void GpuArena::finish() {
  if (stream_)
    check(cuda_.streamSynchronize(stream_), "streamSynchronize");
}

uint8_t *GpuArena::device(size_t bytes) {
  dl::CudaAddress address = 0;
  check(cuda_.memAlloc(&address, bytes + 256), "memAlloc");
  device_.push_back(address);
  check(cuda_.memsetD8Async(address, 0, bytes, copies_), "memsetD8Async");
  check(cuda_.streamSynchronize(copies_), "streamSynchronize");
  return reinterpret_cast<uint8_t *>(address);
}

uint8_t *GpuArena::pinned(size_t bytes) {
  void *memory = nullptr;
  check(cuda_.memHostAlloc(&memory, bytes + 256, dl::kCudaHostPortable | dl::kCudaHostMapped),
        "memHostAlloc");
  pinned_.push_back(memory);
  std::memset(memory, 0, bytes);
  return static_cast<uint8_t *>(memory);
}

void GpuArena::copyIn(void *device, const void *from, size_t bytes) {
  check(cuda_.memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(device), from, bytes, copies_),
        "memcpyHtoDAsync");
  check(cuda_.streamSynchronize(copies_), "streamSynchronize");
}

void GpuArena::copyOut(void *to, const void *device, size_t bytes) {
  check(cuda_.memcpyDtoHAsync(to, reinterpret_cast<dl::CudaAddress>(device), bytes, copies_),
        "memcpyDtoHAsync");
  check(cuda_.streamSynchronize(copies_), "streamSynchronize");
}

void GpuArena::check(dl::CudaResult result, const char *call) {
  const Status status = dl::cudaStatus(cuda_, result, call);
  EXPECT_TRUE(status.ok()) << status.toString();
}

} // namespace coll::kernels::test
