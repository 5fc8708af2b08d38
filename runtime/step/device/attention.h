// attention.h - CollAttention (abi.h) as the call of a kernel.

#ifndef COLL_RUNTIME_STEP_DEVICE_ATTENTION_H
#define COLL_RUNTIME_STEP_DEVICE_ATTENTION_H

#include "runtime/kernels/attention/attention.h"
#include "runtime/step/abi/abi.h"

namespace coll::rt {

// Fails where there is no such type or form of computing; all else checkAttention() checks.
Result<kernels::Attention> attentionOf(const CollAttention &attention);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_ATTENTION_H
