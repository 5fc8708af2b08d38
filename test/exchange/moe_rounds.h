// moe_rounds.h - whole rounds of a MoeBuffer, on one node and on several, compared with the
// reference.

#ifndef COLL_TEST_EXCHANGE_MOE_ROUNDS_H
#define COLL_TEST_EXCHANGE_MOE_ROUNDS_H

#include "test/exchange/moe_rig.h"

#include <functional>

namespace coll::rt::test {

// Makes random rounds with all ranks in this process: bf16, and fp8 with scales in either order;
// with and without top-k weights, biases, a worst case, events; along known routes; with returned
// rows anywhere in memory. One node or several.
void playMoeRounds(dl::FakeCuda &fake, const std::function<MoeBufferOptions(int rank)> &optionsOf,
                   int numRanks, int nodeSize, int rounds);

} // namespace coll::rt::test

#endif // COLL_TEST_EXCHANGE_MOE_ROUNDS_H
