#include "runtime/base/log.h"

#include "runtime/base/env.h"

#include <cstdio>
#include <string>

namespace coll::rt {

namespace {

constexpr const char *kNames[] = {"off", "error", "warn", "info", "debug"};

LogLevel threshold() {
  std::string text = envString(EnvVar::Log);
  for (int i = 0; i < 5; ++i)
    if (text == kNames[i])
      return static_cast<LogLevel>(i);
  return LogLevel::Warn;
}

} // namespace

bool logEnabled(LogLevel level) { return level != LogLevel::Off && level <= threshold(); }

void log(LogLevel level, std::string_view message) {
  if (!logEnabled(level))
    return;
  std::string line = "coll: ";
  line += kNames[static_cast<int>(level)];
  line += ": ";
  line += message;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

} // namespace coll::rt
