// moe_emulated.h - the platform of a MoeBuffer over a fake driver: the kernels' device code on host
// threads.

#ifndef COLL_TEST_EXCHANGE_MOE_EMULATED_H
#define COLL_TEST_EXCHANGE_MOE_EMULATED_H

#include "runtime/exchange/moe/platform.h"

namespace coll::rt::test {

// Uses small grids; each kernel runs concurrently with those of its peers. `cuda` is that of a
// FakeCuda.
MoePlatform emulatedMoe(const dl::Cuda &cuda);

} // namespace coll::rt::test

#endif // COLL_TEST_EXCHANGE_MOE_EMULATED_H
