// A libcoll-moe.so over a fake driver, for tests in other languages. The memory of its GPUs is host
// memory.

#include "test/exchange/moe_emulated.h"
#include "test/support/fakes/cuda.h"

namespace coll::rt::test {
namespace {

// Lives as long as the process, like a driver.
dl::FakeCuda &fake() {
  static auto &cuda = *new dl::FakeCuda(4);
  return cuda;
}
const auto &platform = *new ScopedMoePlatform(emulatedMoe(fake().table()));

} // namespace
} // namespace coll::rt::test

// PyTorch and similar libraries have this function themselves.
extern "C" int32_t coll_moe_test_wait(int32_t device, void *stream) {
  using namespace coll::rt;
  test::fake().setCurrent(device);
  return test::fake().table().streamSynchronize(static_cast<dl::CudaStream>(stream));
}
