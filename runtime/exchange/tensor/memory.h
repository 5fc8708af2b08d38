// memory.h - memory of tensors, as a transport has it.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_MEMORY_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_MEMORY_H

#include "runtime/exchange/flow/box_flow.h"

#include <memory>

namespace coll::rt::exchange {

// The memory at `data`: of the GPU, where there is one (null: none) that says so, else of the host.
BoxMemory memoryAt(const std::shared_ptr<dl::GpuContext> &gpu, void *data);

// Registers it where the transport reaches it by itself; null where it does not, which only memory
// of a GPU can mean. The caller deregisters.
Result<net::Memory *> registerReached(net::Transport &transport, int device,
                                      const BoxMemory &memory, int64_t bytes);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_MEMORY_H
