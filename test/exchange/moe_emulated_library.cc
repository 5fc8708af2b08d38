// A libcoll-moe.so whose GPUs a fake driver plays: for tests in other languages. Memory of these
// GPUs is the host's.

#include "test/exchange/moe_emulated.h"
#include "test/support/fakes/cuda.h"

namespace coll::rt::test {
namespace {

// As long as the process, as a driver is.
dl::FakeCuda &fake() {
  static auto &cuda = *new dl::FakeCuda(4);
  return cuda;
}
const auto &platform = *new ScopedMoePlatform(emulatedMoe(fake().table()));

} // namespace
} // namespace coll::rt::test

// What PyTorch and the like have of their own.
extern "C" int32_t coll_moe_test_wait(int32_t device, void *stream) {
  using namespace coll::rt;
  test::fake().setCurrent(device);
  return test::fake().table().streamSynchronize(static_cast<dl::CudaStream>(stream));
}
