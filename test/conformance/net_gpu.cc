// Backend net on GPU buffers, by each path: over the machine's GPUs, which ranks share, and over a
// fake driver with emulated kernels.

#include "test/conformance/harness.h"

// Emulated kernels are slow under ThreadSanitizer. The path unpack has the threads of the others
// and more, algorithms differ only in their arithmetic, and types do not even differ in threads.
#ifdef __SANITIZE_THREAD__
namespace coll::rt::test {
constexpr char kUnpack[] = "net/loopback//fake/unpack";
COLL_CONFORMANCE_IN(net_fake_gpu_unpack, kUnpack, (std::vector{TypedReduction(kCollF32, kCollSum)}),
                    std::vector{kCollI16});
INSTANTIATE_TEST_SUITE_P(net_fake_gpu_unpack, Arithmetic, testing::Values(kUnpack));
} // namespace coll::rt::test
#else
COLL_CONFORMANCE_OF_DATA(net_fake_gpu_unpack, "net/loopback//fake/unpack");
COLL_CONFORMANCE_OF_DATA(net_fake_gpu_kernel, "net/loopback//fake/kernel");
COLL_CONFORMANCE_OF_DATA(net_fake_gpu_ring, "net/loopback/ring/fake/kernel");
COLL_CONFORMANCE_OF_DATA(net_fake_gpu_copy, "net/loopback//fake/copy");
// The algorithms do not depend on the content of a message, so a few types suffice.
namespace coll::rt::test {
COLL_CONFORMANCE_IN(net_fake_gpu_compress, "net/loopback//fake/compress",
                    (std::vector{TypedReduction(kCollF32, kCollSum),
                                 TypedReduction(kCollBf16, kCollMax)}),
                    std::vector{kCollF16});
// Nor do they depend on the order in which data arrives.
#define COLL_CONFORMANCE_OF_SOME(label, backend)                                                   \
  COLL_CONFORMANCE_IN(label, backend, (std::vector{TypedReduction(kCollF32, kCollSum)}),           \
                      std::vector{kCollI16})
COLL_CONFORMANCE_OF_SOME(net_fake_gpu_unpack_scattered, "net/loopback//fake/scattered-unpack");
COLL_CONFORMANCE_OF_SOME(net_fake_gpu_pack, "net/loopback//fake/pack");
COLL_CONFORMANCE_OF_SOME(net_fake_gpu_pack_scattered, "net/loopback//fake/scattered-pack");
COLL_CONFORMANCE_OF_SOME(net_fake_gpu_copy_scattered, "net/loopback//fake/scattered-copy");
INSTANTIATE_TEST_SUITE_P(net_fake_gpu, Asynchrony, testing::Values("net/loopback//fake/kernel"));
} // namespace coll::rt::test
#endif
COLL_CONFORMANCE_OF_TRANSFERS(net_fake_gpu, "net/tcp//fake/kernel");

COLL_CONFORMANCE_AS(net_gpu_kernel, "net/tcp//gpu/kernel");
COLL_CONFORMANCE_OF_DATA(net_gpu_ring, "net/tcp/ring/gpu/kernel");
COLL_CONFORMANCE_OF_DATA(net_gpu_halving, "net/tcp/halving/gpu/kernel");
COLL_CONFORMANCE_OF_DATA(net_gpu_unpack, "net/tcp//gpu/unpack");
COLL_CONFORMANCE_OF_TRANSFERS(net_gpu_unpack_transfers, "net/tcp//gpu/unpack");
COLL_CONFORMANCE_OF_DATA(net_gpu_pack, "net/tcp//gpu/pack");
COLL_CONFORMANCE_OF_TRANSFERS(net_gpu_pack_transfers, "net/tcp//gpu/pack");
COLL_CONFORMANCE_OF_DATA(net_gpu_copy, "net/tcp//gpu/copy");
COLL_CONFORMANCE_OF_DATA(net_gpu_compress, "net/tcp//gpu/compress");
COLL_CONFORMANCE_OF_TRANSFERS(net_gpu_compress_transfers, "net/tcp//gpu/compress");
COLL_CONFORMANCE_OF_TRANSFERS(net_gpu_copy_transfers, "net/tcp//gpu/copy");
