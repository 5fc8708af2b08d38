#include "runtime/base/log.h"

#include "runtime/base/env.h"
#include "runtime/base/log_sink.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

namespace coll::rt {

namespace {

constexpr const char *kNames[] = {"off", "error", "warn", "info", "debug"};

struct Sinks {
  std::mutex mutex;
  std::vector<LogSink *> list;
};

// Never destroyed: threads may log while the process ends.
Sinks &sinks() {
  static Sinks &sinks = *new Sinks();
  return sinks;
}

// Returns whether there is a sink; if so, the sinks have received the message.
bool handToSinks(LogLevel level, std::string_view message) {
  std::lock_guard<std::mutex> lock(sinks().mutex);
  for (LogSink *sink : sinks().list)
    sink->onLog(level, message);
  return !sinks().list.empty();
}

void print(LogLevel level, std::string_view message) {
  if (handToSinks(level, message))
    return;
  std::string line = "coll: ";
  line += kNames[static_cast<int>(level)];
  line += ": ";
  line += message;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

LogLevel threshold() {
  const std::string text = envString(EnvVar::Log);
  for (int i = 0; i < 5; ++i)
    if (text == kNames[i])
      return static_cast<LogLevel>(i);
  static std::once_flag said;
  std::call_once(said, [&] {
    print(LogLevel::Warn, "COLL_LOG=" + text + ": expected error, warn, info, debug or off");
  });
  return LogLevel::Warn;
}

} // namespace

bool logEnabled(LogLevel level) { return level != LogLevel::Off && level <= threshold(); }

void log(LogLevel level, std::string_view message) {
  if (logEnabled(level))
    print(level, message);
}

void addLogSink(LogSink *sink) {
  std::lock_guard<std::mutex> lock(sinks().mutex);
  sinks().list.push_back(sink);
}

void removeLogSink(LogSink *sink) {
  std::lock_guard<std::mutex> lock(sinks().mutex);
  auto &list = sinks().list;
  list.erase(std::remove(list.begin(), list.end(), sink), list.end());
}

} // namespace coll::rt
