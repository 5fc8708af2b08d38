// attention.h - converts CollAttention (abi.h) to the arguments of a kernel.

#ifndef COLL_RUNTIME_STEP_DEVICE_ATTENTION_H
#define COLL_RUNTIME_STEP_DEVICE_ATTENTION_H

#include "runtime/kernels/attention/attention.h"
#include "runtime/step/abi/abi.h"

namespace coll::rt {

// Fails if the type or the form of computing does not exist; checkAttention() checks the rest.
Result<kernels::Attention> attentionOf(const CollAttention &attention);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_ATTENTION_H
