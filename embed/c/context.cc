#include "embed/c/context.h"

#include "embed/c/structs.h"

namespace coll::embed {

constexpr uint64_t kDefaultCacheBytes = uint64_t(1) << 30;

Context::Context(const coll_context_options &options)
    : log_(options.log), user_(options.log_user), cacheFolder_(orElse(options.cache_folder, "")),
      cacheBytes_(options.cache_bytes ? options.cache_bytes : kDefaultCacheBytes) {
  rt::addLogSink(this);
}

Context::~Context() { rt::removeLogSink(this); }

void Context::say(coll_severity severity, const std::string &text) const {
  if (log_)
    log_(user_, severity, text.c_str());
}

void Context::onLog(rt::LogLevel level, std::string_view message) {
  const coll_severity severity = level == rt::LogLevel::Error  ? COLL_ERROR
                                 : level == rt::LogLevel::Warn ? COLL_WARNING
                                                               : COLL_NOTE;
  say(severity, std::string(message));
}

} // namespace coll::embed

using namespace coll::embed;

coll_error coll_context_create(const coll_context_options *given, coll_context *context) {
  return guarded([&]() -> Outcome {
    if (!context)
      return invalid("context is null");
    coll_context_options options = {};
    if (given)
      COLL_EMBED_TRY(readStruct(given, "coll_context_options", options));
    makeHandle(std::make_shared<Context>(options), context);
    return nullptr;
  });
}

coll_error coll_context_free(coll_context context) {
  return guarded([&]() -> Outcome {
    std::shared_ptr<Context> object;
    return freeHandle(context, "context", object);
  });
}
