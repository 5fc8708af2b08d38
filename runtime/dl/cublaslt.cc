#include "runtime/dl/cublaslt.h"

#include "runtime/base/env.h"
#include "runtime/dl/library.h"

namespace coll::rt::dl {

namespace {

constexpr const char *kNames[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};

Status unusable(const std::string &reason) {
  return {kCollUnsupported, "no cuBLASLt here: " + reason +
                                "; install the CUDA toolkit's libcublas, or name libcublasLt.so in "
                                "COLL_CUBLASLT"};
}

Status resolve(const Library &library, CublasLt &lt) {
#define COLL_CUBLASLT_RESOLVE(member, name, parameters)                                            \
  lt.member = library.symbol<LtResult parameters>(name);                                           \
  if (!lt.member)                                                                                  \
    return unusable("the library has no " name);
  COLL_CUBLASLT_FUNCTIONS(COLL_CUBLASLT_RESOLVE)
#undef COLL_CUBLASLT_RESOLVE
  lt.getVersion = library.symbol<size_t()>("cublasLtGetVersion");
  lt.statusString = library.symbol<const char *(LtResult)>("cublasLtGetStatusString");
  if (!lt.getVersion || !lt.statusString)
    return unusable("the library has no function for its version or for error texts");
  return {};
}

Result<Library> open() {
  const std::string named = envString(EnvVar::CublasLt);
  if (named == "none")
    return Status(kCollUnsupported, "COLL_CUBLASLT is none");
  if (!named.empty())
    return Library::open(named);
  Result<Library> library = Library::open(kNames[0]);
  for (size_t i = 1; !library && i < std::size(kNames); ++i)
    library = Library::open(kNames[i]);
  return library;
}

Result<const CublasLt *> load() {
  Result<Library> library = open();
  if (!library)
    return unusable(library.status().message());
  static CublasLt lt;
  COLL_RETURN_IF_ERROR(resolve(*library, lt));
  return &lt;
}

CollCode codeOf(LtResult result) {
  switch (result) {
  case kLtNotSupported:
  case kLtArchMismatch:
    return kCollUnsupported;
  case kLtInvalidValue:
    return kCollInvalidCall;
  default:
    return kCollDevice;
  }
}

} // namespace

Result<const CublasLt *> cublasLt() {
  static const Result<const CublasLt *> loaded = load();
  return loaded;
}

Status ltStatus(const CublasLt &lt, LtResult result, std::string_view call) {
  if (result == kLtSuccess)
    return {};
  const char *text = lt.statusString(result);
  return {codeOf(result),
          std::string(call) + ": " + (text ? text : "error " + std::to_string(result))};
}

} // namespace coll::rt::dl
