// memory.h - memory of tensors, as a transport uses it.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_MEMORY_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_MEMORY_H

#include "runtime/exchange/flow/box_flow.h"

#include <memory>

namespace coll::rt::exchange {

// The memory at `data`: GPU memory if `gpu` is not null and knows it, else host memory.
BoxMemory memoryAt(const std::shared_ptr<dl::GpuContext> &gpu, void *data);

// Registers it if the transport reaches it; null if it does not, which is only possible for GPU
// memory. The caller deregisters.
Result<net::Memory *> registerReached(net::Transport &transport, int device,
                                      const BoxMemory &memory, int64_t bytes);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_MEMORY_H
