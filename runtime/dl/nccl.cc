#include "runtime/dl/nccl.h"

#include "runtime/base/env.h"
#include "runtime/dl/library.h"

namespace coll::rt::dl {

namespace {

Status unusable(const std::string &reason) { return {kCollUnsupported, "no NCCL here: " + reason}; }

Status resolve(const Library &library, Nccl &nccl) {
#define COLL_NCCL_OPTIONAL(member, name, parameters)                                               \
  nccl.member = library.symbol<NcclResult parameters>(name);
#define COLL_NCCL_REQUIRED(member, name, parameters)                                               \
  COLL_NCCL_OPTIONAL(member, name, parameters)                                                     \
  if (!nccl.member)                                                                                \
    return unusable("the library has no " name ", it is older than 2.19");
  COLL_NCCL_FUNCTIONS(COLL_NCCL_REQUIRED)
  COLL_NCCL_OPTIONAL_FUNCTIONS(COLL_NCCL_OPTIONAL)
#undef COLL_NCCL_REQUIRED
#undef COLL_NCCL_OPTIONAL
  nccl.getErrorString = library.symbol<const char *(NcclResult)>("ncclGetErrorString");
  nccl.getLastError = library.symbol<const char *(NcclComm)>("ncclGetLastError");
  if (!nccl.getErrorString || !nccl.getLastError)
    return unusable("the library cannot explain its errors");
  return {};
}

Result<const Nccl *> load() {
  std::string name = envString(EnvVar::Nccl);
  if (name == "none")
    return unusable("COLL_NCCL is none");
  Result<Library> library = Library::open(name);
  if (!library)
    return unusable(library.status().message());
  static Nccl nccl;
  COLL_RETURN_IF_ERROR(resolve(*library, nccl));
  if (NcclResult result = nccl.getVersion(&nccl.version); result != kNcclSuccess)
    return unusable(ncclStatus(nccl, result, "ncclGetVersion").message());
  if (nccl.version < kNcclOldest)
    return unusable(name + " is " + ncclVersionName(nccl.version) + ", 2.19 or later is needed");
  return &nccl;
}

CollCode codeOf(NcclResult result) {
  switch (result) {
  case kNcclUnhandledCudaError:
    return kCollDevice;
  case kNcclSystemError:
    return kCollLink;
  case kNcclInvalidArgument:
  case kNcclInvalidUsage:
    return kCollInvalidCall;
  case kNcclRemoteError:
    return kCollPeer;
  default:
    return kCollInternal;
  }
}

} // namespace

Result<const Nccl *> nccl() {
  static const Result<const Nccl *> loaded = load();
  return loaded;
}

// In NCCL's form: two digits for minor and patch from 2.9 on.
std::string ncclVersionName(int version) {
  int major = version / 10000, minor = version / 100 % 100, patch = version % 100;
  if (version < 10000)
    major = version / 1000, minor = version / 100 % 10;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

Status ncclStatus(const Nccl &nccl, NcclResult result, std::string_view call, NcclComm comm) {
  if (result == kNcclSuccess || result == kNcclInProgress)
    return {};
  const char *text = nccl.getErrorString(result);
  std::string message =
      std::string(call) + ": " + (text ? text : "error " + std::to_string(result));
  const char *last = nccl.getLastError(comm);
  if (last && *last)
    message += std::string(" (") + last + ")";
  while (!message.empty() && message.back() == '\n')
    message.pop_back();
  return {codeOf(result), message};
}

} // namespace coll::rt::dl
