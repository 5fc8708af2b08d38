// moe_emulated.h - what a MoeBuffer works with over a fake driver: the kernels' device code on host
// threads.

#ifndef COLL_TEST_EXCHANGE_MOE_EMULATED_H
#define COLL_TEST_EXCHANGE_MOE_EMULATED_H

#include "runtime/exchange/moe/platform.h"

namespace coll::rt::test {

// Small grids; each kernel runs beside those of its peers. `cuda`: a FakeCuda's.
MoePlatform emulatedMoe(const dl::Cuda &cuda);

} // namespace coll::rt::test

#endif // COLL_TEST_EXCHANGE_MOE_EMULATED_H
