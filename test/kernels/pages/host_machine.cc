// Runs the device code, compiled for the host; see test/support/emulation/simt_host.h. Blocks have
// few warps, because each thread needs a stack and a turn.

#include "runtime/kernels/pages/pack_device.cuh"
#include "test/kernels/pages/machine.h"

#include <cstdlib>
#include <cstring>

namespace coll::kernels::test {
namespace {

class HostMachine : public Machine {
public:
  // Exactly the requested size, so that AddressSanitizer finds an access to the first byte beyond.
  void *allocate(size_t bytes, Where) override {
    void *memory = nullptr;
    if (posix_memalign(&memory, 256, bytes) != 0)
      std::abort();
    return memory;
  }
  void release(void *memory, Where) override { std::free(memory); }
  void copyIn(void *to, const void *from, size_t bytes) override { copyOut(to, from, bytes); }
  void copyOut(void *to, const void *from, size_t bytes) override {
    if (bytes != 0)
      std::memcpy(to, from, bytes);
  }

  rt::Status unpack(const PageCopy &copy) override {
    COLL_RETURN_IF_ERROR(checkCopy(copy));
    run(copy.blocks, [&](char *shared) {
      unpackPagesKernel(copy.pages, static_cast<uint32_t>(copy.count), regions(copy),
                        copy.errorWord, shared);
    });
    return rt::Status::okay();
  }
  rt::Status pack(const PageCopy &copy) override {
    COLL_RETURN_IF_ERROR(checkCopy(copy));
    run(copy.blocks, [&](char *shared) {
      packPagesKernel(copy.pages, static_cast<uint32_t>(copy.count), regions(copy), copy.errorWord,
                      shared);
    });
    return rt::Status::okay();
  }
  rt::Status unpackNext(const MessageCopy<rt::UnpackHandle> &m) override {
    run(m.blocks, [&](char *shared) {
      unpackNextKernel(m.handle, m.bounceBytes, static_cast<char *>(m.buffer), m.bufferBytes,
                       m.errorWord, shared);
    });
    if (m.blocks > 1)
      unpackAdvanceKernel(m.handle);
    return rt::Status::okay();
  }
  rt::Status unpackGroup(const UnpackGroupCopy &copy) override {
    COLL_RETURN_IF_ERROR(checkGroup(copy));
    run(copy.blocks, [&](char *shared) { unpackGroupKernel(copy, shared); });
    return rt::Status::okay();
  }
  rt::Status packNext(const MessageCopy<rt::PackHandle> &m) override {
    run(m.blocks, [&](char *shared) {
      packNextKernel(m.handle, m.bounceBytes, static_cast<char *>(m.buffer), m.bufferBytes,
                     m.errorWord, shared);
    });
    if (m.blocks > 1)
      packAdvanceKernel(m.handle);
    return rt::Status::okay();
  }
  int cases() const override { return 40; }
  bool slow() const override { return true; }

private:
  static PageRegions regions(const PageCopy &copy) {
    return {static_cast<char *>(copy.bounce), copy.bounceBytes, static_cast<char *>(copy.buffer),
            copy.bufferBytes};
  }
  // The size of blocks varies from 1 to 3 warps.
  template <class Kernel>
  void run(int blocks, const Kernel &kernel) {
    const uint32_t warps = 1 + turn_++ % 3;
    simt::run({static_cast<uint32_t>(blocks ? blocks : 1), warps * simt::kWarpThreads,
               kUnpackGroupBytes + pageCopySharedBytes(warps)},
              kernel);
  }
  uint32_t turn_ = 0;
};

MachineResult makeHost() { return {std::make_unique<HostMachine>(), ""}; }

COLL_KERNEL_MACHINE(host, UnpackTest, makeHost);
COLL_KERNEL_MACHINE(host, PackTest, makeHost);

} // namespace
} // namespace coll::kernels::test
