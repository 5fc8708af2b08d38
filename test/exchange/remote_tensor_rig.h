// remote_tensor_rig.h - random reads and writes of remote tensors, compared element by element.

#ifndef COLL_TEST_EXCHANGE_REMOTE_TENSOR_RIG_H
#define COLL_TEST_EXCHANGE_REMOTE_TENSOR_RIG_H

#include "runtime/exchange/tensor/remote_tensor.h"
#include "test/exchange/reshard_cases.h"

namespace coll::rt::exchange::test {

// Uses an owner and a reader in this process, over the transport (null: none). Each case reads and
// writes parts of a tensor, to and from layouts with gaps. With a GPU of a fake driver the tensor,
// the local memory or both are in GPU memory.
void accessMany(net::Transport *transport, Via via, int cases,
                const std::shared_ptr<dl::GpuContext> &gpu = nullptr);

} // namespace coll::rt::exchange::test

#endif // COLL_TEST_EXCHANGE_REMOTE_TENSOR_RIG_H
