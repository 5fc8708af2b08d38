#include "runtime/dl/cudnn.h"

#include "runtime/base/env.h"
#include "runtime/dl/library.h"

namespace coll::rt::dl {

namespace {

constexpr size_t kOldest = 90000; // its interface is the one declared here

Status unusable(const std::string &reason) {
  return {kCollUnsupported,
          "no cuDNN here: " + reason + "; install cuDNN 9, or name libcudnn.so.9 in COLL_CUDNN"};
}

Status resolve(const Library &library, Cudnn &dnn) {
#define COLL_CUDNN_RESOLVE(member, name, parameters)                                               \
  dnn.member = library.symbol<DnnResult parameters>(name);                                         \
  if (!dnn.member)                                                                                 \
    return unusable("the library has no " name);
  COLL_CUDNN_FUNCTIONS(COLL_CUDNN_RESOLVE)
#undef COLL_CUDNN_RESOLVE
  dnn.getVersion = library.symbol<size_t()>("cudnnGetVersion");
  dnn.errorString = library.symbol<const char *(DnnResult)>("cudnnGetErrorString");
  if (!dnn.getVersion || !dnn.errorString)
    return unusable("the library has no function for its version or for error texts");
  if (dnn.getVersion() < kOldest)
    return unusable("its version is " + std::to_string(dnn.getVersion()) + ", before 9.0");
  return {};
}

Result<const Cudnn *> load() {
  const std::string named = envString(EnvVar::Cudnn);
  if (named == "none")
    return unusable("COLL_CUDNN is none");
  Result<Library> library = Library::open(named);
  if (!library)
    return unusable(library.status().message());
  static Cudnn dnn;
  COLL_RETURN_IF_ERROR(resolve(*library, dnn));
  return &dnn;
}

CollCode codeOf(DnnResult result) {
  switch (result / kDnnKinds * kDnnKinds) {
  case kDnnNotSupported:
    return kCollUnsupported;
  case kDnnBadParam:
    return kCollInvalidCall;
  default:
    return kCollDevice;
  }
}

} // namespace

Result<const Cudnn *> cudnn() {
  static const Result<const Cudnn *> loaded = load();
  return loaded;
}

Status dnnStatus(const Cudnn &dnn, DnnResult result, std::string_view call) {
  if (result == kDnnSuccess)
    return {};
  const char *text = dnn.errorString(result);
  return {codeOf(result),
          std::string(call) + ": " + (text ? text : "error " + std::to_string(result))};
}

} // namespace coll::rt::dl
