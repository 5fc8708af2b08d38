#include "runtime/base/log.h"

#include "runtime/base/env.h"

#include <cstdio>
#include <mutex>
#include <string>

namespace coll::rt {

namespace {

constexpr const char *kNames[] = {"off", "error", "warn", "info", "debug"};

void print(LogLevel level, std::string_view message) {
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

} // namespace coll::rt
