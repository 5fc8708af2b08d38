// context.h - settings that compilations share: the handler of messages, and the cache.

#ifndef COLL_EMBED_C_CONTEXT_H
#define COLL_EMBED_C_CONTEXT_H

#include "embed/c/handles.h"
#include "runtime/base/log_sink.h"

#include <string>

namespace coll::embed {

class Context : public rt::LogSink {
public:
  static constexpr Kind kKind = Kind::Context;

  explicit Context(const coll_context_options &options);
  ~Context() override;

  void say(coll_severity severity, const std::string &text) const;
  // Receives the runtime's messages. They do not say which instance of the process they come from.
  void onLog(rt::LogLevel level, std::string_view message) override;

  const std::string &cacheFolder() const { return cacheFolder_; }
  uint64_t cacheBytes() const { return cacheBytes_; }

private:
  coll_log_callback log_;
  void *user_;
  std::string cacheFolder_;
  uint64_t cacheBytes_;
};

} // namespace coll::embed

#endif // COLL_EMBED_C_CONTEXT_H
