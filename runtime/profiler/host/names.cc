#include "runtime/profiler/host/names.h"

#include <cstring>

namespace coll::profiler {

const char *ncclFunction(const char *name) {
  constexpr const char *kNames[][2] = {
      {"all_reduce", "AllReduce"},
      {"all_gather", "AllGather"},
      {"broadcast", "Broadcast"},
      {"reduce", "Reduce"},
      {"send", "Send"},
      {"recv", "Recv"},
      {"gather", "Gather"},
      {"scatter", "Scatter"},
      {"all_to_all", "AlltoAll"},
      {"reduce_scatter", "ReduceScatter"},
  };
  for (const auto &[ours, ncclName] : kNames)
    if (std::strcmp(name, ours) == 0)
      return ncclName;
  return name;
}

const char *ncclDatatype(CollDtype dtype) {
  switch (dtype) {
  case kCollF32:
    return "ncclFloat32";
  case kCollF64:
    return "ncclFloat64";
  case kCollF16:
    return "ncclFloat16";
  case kCollBf16:
    return "ncclBfloat16";
  case kCollI8:
    return "ncclInt8";
  case kCollI32:
    return "ncclInt32";
  case kCollI64:
    return "ncclInt64";
  case kCollU8:
  case kCollBool:
    return "ncclUint8";
  case kCollF8E4M3FN:
    return "ncclFloat8e4m3";
  case kCollF8E5M2:
    return "ncclFloat8e5m2";
  case kCollI16:
    break;
  }
  return "Unknown";
}

} // namespace coll::profiler
