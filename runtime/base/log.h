// log.h - messages to stderr, filtered by COLL_LOG.
//
// The function that decides what an error means logs it; others annotate the
// Status and return it. Safe from any thread; one message is one write.

#ifndef COLL_RUNTIME_BASE_LOG_H
#define COLL_RUNTIME_BASE_LOG_H

#include <string_view>

namespace coll::rt {

enum class LogLevel { Off, Error, Warn, Info, Debug };

bool logEnabled(LogLevel level);
void log(LogLevel level, std::string_view message);

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_LOG_H
