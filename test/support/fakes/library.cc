// The fake driver and the fake NCCL as a shared library, for tests of whole programs:
//
//   COLL_CUDA=libcoll-fake-gpu.so COLL_NCCL=libcoll-fake-gpu.so coll-perf all_reduce …
//
// Each of the libraries' symbols jumps to the function of the table. x86-64 only.

#include "test/support/fakes/nccl.h"

namespace {

constexpr int kGpus = 8;

} // namespace

// clang-format off
#define COLL_JUMP(slot, symbol)                                                                    \
  extern "C" { __attribute__((visibility("default"))) void *slot = nullptr; }                      \
  asm(".text\n.globl " symbol "\n.type " symbol ", @function\n" symbol ":\n"                       \
      "  movq " #slot "@GOTPCREL(%rip), %r11\n  jmp *(%r11)\n");
#define COLL_CUDA_JUMP(member, symbol, parameters) COLL_JUMP(coll_fake_cuda_##member, symbol)
#define COLL_NCCL_JUMP(member, symbol, parameters) COLL_JUMP(coll_fake_nccl_##member, symbol)
// clang-format on
COLL_CUDA_FUNCTIONS(COLL_CUDA_JUMP)
COLL_CUDA_OPTIONAL_FUNCTIONS(COLL_CUDA_JUMP)
COLL_NCCL_FUNCTIONS(COLL_NCCL_JUMP)
COLL_NCCL_OPTIONAL_FUNCTIONS(COLL_NCCL_JUMP)
COLL_JUMP(coll_fake_nccl_getErrorString, "ncclGetErrorString")
COLL_JUMP(coll_fake_nccl_getLastError, "ncclGetLastError")

namespace {

struct FakeLibrary {
  FakeLibrary() : cuda(kGpus) {
#define COLL_FILL(prefix, fake, member)                                                            \
  prefix##member = reinterpret_cast<void *>(fake.table().member);
#define COLL_CUDA_FILL(member, symbol, parameters) COLL_FILL(coll_fake_cuda_, cuda, member)
#define COLL_NCCL_FILL(member, symbol, parameters) COLL_FILL(coll_fake_nccl_, nccl, member)
    COLL_CUDA_FUNCTIONS(COLL_CUDA_FILL)
    COLL_CUDA_OPTIONAL_FUNCTIONS(COLL_CUDA_FILL)
    COLL_NCCL_FUNCTIONS(COLL_NCCL_FILL)
    COLL_NCCL_OPTIONAL_FUNCTIONS(COLL_NCCL_FILL)
    COLL_FILL(coll_fake_nccl_, nccl, getErrorString)
    COLL_FILL(coll_fake_nccl_, nccl, getLastError)
  }
  coll::rt::dl::FakeCuda cuda;
  coll::rt::dl::FakeNccl nccl;
};

// Never destroyed, because threads of the program may still be in it.
FakeLibrary &library = *new FakeLibrary;

} // namespace
