// translate.h - converts event descriptors and states between versions of NCCL's profiler ABI.
//
// The host works with version 7. lower() converts a descriptor for a plugin of an older version,
// raise() does the reverse for the plugin that stock NCCL loads. Fields that an older version lacks
// are then 0 or null; strings that NCCL always sets are not null. Handles are copied unchanged;
// until version 4 the parent of a collective is its group.

#ifndef COLL_RUNTIME_PROFILER_HOST_TRANSLATE_H
#define COLL_RUNTIME_PROFILER_HOST_TRANSLATE_H

#include "runtime/profiler/abi/tables.h"

namespace coll::profiler {

// False if the version has no such event; `to` is then unspecified.
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV2 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV3 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV4 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV5 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV6 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV7 &to);

// False for an unknown event type; `to` is then unspecified.
bool raise(const abi::EventDescriptorV2 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV3 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV4 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV5 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV6 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV7 &from, abi::EventDescriptorV7 &to);

// Whether plugins of the version receive the state.
bool hasState(int version, abi::EventState state);
abi::StateArgsV2 lowerArgs(abi::EventState state, const abi::StateArgsV7 &args);
// `args` may be null.
abi::StateArgsV7 raiseArgs(abi::EventState state, const abi::StateArgsV2 *args);

// The events of the mask and all their parents, as far as the version has them.
uint64_t closedUpwards(int version, uint64_t mask);

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_TRANSLATE_H
