// log_sink.h - receives the runtime's messages instead of stderr.

#ifndef COLL_RUNTIME_BASE_LOG_SINK_H
#define COLL_RUNTIME_BASE_LOG_SINK_H

#include "runtime/base/log.h"

#include <string_view>

namespace coll::rt {

class LogSink {
public:
  virtual ~LogSink() = default;
  // Called on the thread that logs. Must not log, add or remove sinks.
  virtual void onLog(LogLevel level, std::string_view message) = 0;
};

// While there is a sink, every message that COLL_LOG admits goes to all sinks and nothing is
// written to stderr. May be called from any thread; a sink is not called after removeLogSink().
void addLogSink(LogSink *sink);
void removeLogSink(LogSink *sink);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_LOG_SINK_H
