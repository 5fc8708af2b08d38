// The attention kernels' device code on the host.

#include "test/kernels/attention/attention_rig.h"
#include "test/support/emulation/attention.h"

#include <cstdlib>
#include <cstring>

namespace coll::kernels::test {
namespace {

class HostRig : public AttentionRig {
public:
  // Exactly the requested size, so that AddressSanitizer finds an access to the first byte beyond.
  void *allocate(size_t bytes) override {
    void *memory = nullptr;
    if (posix_memalign(&memory, 256, bytes) != 0)
      std::abort();
    return memory;
  }
  void release(void *memory) override { std::free(memory); }
  void copyIn(void *to, const void *from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void copyOut(void *to, const void *from, size_t bytes) override { std::memcpy(to, from, bytes); }
  rt::Status forward(const Attention &attention, const AttentionBuffers &buffers) override {
    return emulateAttention(attention, buffers);
  }
  rt::Status backward(const Attention &attention, const AttentionBuffers &buffers) override {
    return emulateAttentionBackward(attention, buffers);
  }
  bool isSlow() const override { return true; }
};

COLL_ATTENTION_RIG(
    host,
    +[](std::string &) -> std::unique_ptr<AttentionRig> { return std::make_unique<HostRig>(); });

} // namespace
} // namespace coll::kernels::test
