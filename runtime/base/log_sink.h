// log_sink.h - hosts of the runtime that want its messages instead of stderr.

#ifndef COLL_RUNTIME_BASE_LOG_SINK_H
#define COLL_RUNTIME_BASE_LOG_SINK_H

#include "runtime/base/log.h"

#include <string_view>

namespace coll::rt {

class LogSink {
public:
  virtual ~LogSink() = default;
  // On the thread that logs; must not log, add or remove sinks.
  virtual void onLog(LogLevel level, std::string_view message) = 0;
};

// While there is a sink, every message that COLL_LOG lets through goes to all of them and
// nothing is written to stderr. From any thread; after removeLogSink() it is not called.
void addLogSink(LogSink *sink);
void removeLogSink(LogSink *sink);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_LOG_SINK_H
