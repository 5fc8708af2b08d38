// translate.h - event descriptors and states from one version of NCCL's profiler ABI to another.
//
// The host thinks in version 7. lower() makes of a descriptor what a plugin of an older version
// expects, raise() the reverse for the plugin that stock NCCL loads. What an older version does not
// say is 0 or null afterwards, strings that NCCL always gives are not null. Handles are copied as
// they are; until version 4 the parent of a collective is its group.

#ifndef COLL_RUNTIME_PROFILER_HOST_TRANSLATE_H
#define COLL_RUNTIME_PROFILER_HOST_TRANSLATE_H

#include "runtime/profiler/abi/tables.h"

namespace coll::profiler {

// False where the version has no such event; `to` is then unspecified.
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV2 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV3 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV4 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV5 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV6 &to);
bool lower(const abi::EventDescriptorV7 &from, abi::EventDescriptorV7 &to);

// False for an event type that is not known; `to` is then unspecified.
bool raise(const abi::EventDescriptorV2 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV3 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV4 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV5 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV6 &from, abi::EventDescriptorV7 &to);
bool raise(const abi::EventDescriptorV7 &from, abi::EventDescriptorV7 &to);

// Whether plugins of the version are told of the state.
bool hasState(int version, abi::EventState state);
abi::StateArgsV2 lowerArgs(abi::EventState state, const abi::StateArgsV7 &args);
// `args` may be null.
abi::StateArgsV7 raiseArgs(abi::EventState state, const abi::StateArgsV2 *args);

// The mask with the parents of all its events, of those that the version has.
uint64_t closedUpwards(int version, uint64_t mask);

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_TRANSLATE_H
