// calls.h - the functions behind CollAbi, declared from the table (abi.def): a compiled step calls
// coll_abi_launch as `launch`. A definition with other parameters does not link.

#ifndef COLL_RUNTIME_STEP_ABI_CALLS_H
#define COLL_RUNTIME_STEP_ABI_CALLS_H

#include "runtime/step/abi/abi.h"

namespace coll::rt {

#define COLL_ABI_FUNCTION(name, parameters) int32_t coll_abi_##name parameters;
#include "runtime/step/abi/abi.def"
#undef COLL_ABI_FUNCTION

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_ABI_CALLS_H
