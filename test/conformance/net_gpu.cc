// Backend net on GPU buffers, by each path: over the machine's GPUs, which ranks share, and
// over a fake driver with emulated kernels.

#include "test/conformance/harness.h"

COLL_CONFORMANCE_OF_DATA(net_fake_gpu_unpack, "net/loopback//fake/unpack");
// Under ThreadSanitizer an emulated kernel takes minutes. The unpack path has the threads of the
// others and more, and algorithms differ in their arithmetic only.
#ifndef __SANITIZE_THREAD__
COLL_CONFORMANCE_OF_DATA(net_fake_gpu_kernel, "net/loopback//fake/kernel");
COLL_CONFORMANCE_OF_DATA(net_fake_gpu_ring, "net/loopback/ring/fake/kernel");
COLL_CONFORMANCE_OF_DATA(net_fake_gpu_copy, "net/loopback//fake/copy");
#endif
COLL_CONFORMANCE_OF_TRANSFERS(net_fake_gpu, "net/tcp//fake/kernel");

COLL_CONFORMANCE_AS(net_gpu_kernel, "net/tcp//gpu/kernel");
COLL_CONFORMANCE_OF_DATA(net_gpu_ring, "net/tcp/ring/gpu/kernel");
COLL_CONFORMANCE_OF_DATA(net_gpu_halving, "net/tcp/halving/gpu/kernel");
COLL_CONFORMANCE_OF_DATA(net_gpu_unpack, "net/tcp//gpu/unpack");
COLL_CONFORMANCE_OF_TRANSFERS(net_gpu_unpack_transfers, "net/tcp//gpu/unpack");
COLL_CONFORMANCE_OF_DATA(net_gpu_copy, "net/tcp//gpu/copy");
COLL_CONFORMANCE_OF_TRANSFERS(net_gpu_copy_transfers, "net/tcp//gpu/copy");
