// A libcuda.so.1 whose functions are those of FakeCuda, for programs that load CUDA by name
// (COLL_CUDA). The macro that declares the driver's table also generates its exports.

#include "test/support/fakes/cuda.h"

// Each symbol jumps to the function in the table, so parameters need not be known.
#define COLL_FAKE_EXPORT(member, symbol, parameters)                                               \
  extern "C" {                                                                                     \
  __attribute__((visibility("hidden"), used)) void *collFake_##member = nullptr;                   \
  }                                                                                                \
  asm(".text\n.globl " symbol "\n.type " symbol ",@function\n" symbol                              \
      ":\n  endbr64\n  jmp *collFake_" #member "(%rip)\n.size " symbol ", .-" symbol "\n");
COLL_CUDA_FUNCTIONS(COLL_FAKE_EXPORT)
COLL_CUDA_OPTIONAL_FUNCTIONS(COLL_FAKE_EXPORT)

namespace {

coll::rt::dl::FakeCuda *fake;

__attribute__((constructor)) void fillTable() {
  fake = new coll::rt::dl::FakeCuda(1);
  const coll::rt::dl::Cuda &cuda = fake->table();
#define COLL_FAKE_FILL(member, symbol, parameters)                                                 \
  collFake_##member = reinterpret_cast<void *>(cuda.member);
  COLL_CUDA_FUNCTIONS(COLL_FAKE_FILL)
  COLL_CUDA_OPTIONAL_FUNCTIONS(COLL_FAKE_FILL)
}

} // namespace

// For the tests.
extern "C" {
void *collFakeAllocate(uint64_t bytes) { return fake->allocate(bytes); }
void collFakeFree(void *data) { fake->free(data); }
void collFakeSetCurrent() { fake->setCurrent(0); }
void collFakeLoadLazily(bool lazily) { fake->loadLazily(lazily); }
const char *collFakeMisuse() {
  static std::string text;
  text = fake->misuse();
  return text.c_str();
}
}
