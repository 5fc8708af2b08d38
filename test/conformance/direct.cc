// Backend direct: over a fake driver with eight GPUs and emulated kernels, and over the machine's
// GPUs, which ranks share if there are fewer.

#include "test/conformance/harness.h"

namespace coll::rt::test {
namespace {

// Only some types, because the kernels' own tests have every type with every reduction.
#define COLL_DIRECT_CONFORMANCE(label, backend)                                                    \
  COLL_CONFORMANCE_IN(label, backend, someReductions(), std::vector{kCollI16});                    \
  INSTANTIATE_TEST_SUITE_P(label, Arithmetic, testing::Values(backend));                           \
  COLL_CONFORMANCE_OF_CALLS(label, backend)

COLL_DIRECT_CONFORMANCE(direct_fake, "direct///fake-direct");
COLL_DIRECT_CONFORMANCE(direct_gpu, "direct///gpu");

} // namespace
} // namespace coll::rt::test
