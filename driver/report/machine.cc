//===- machine.cc - facts about this machine and process -------------------------===//

#include "driver/report/machine.h"

#include "driver/report/format.h"
#include "runtime/base/machine.h"

#include <ctime>
#include <fstream>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace coll::run {

/// The value of the first line "KEY<blanks>: VALUE" or "KEY=VALUE", without quotes.
static std::string findValue(const char *path, const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    size_t separator = line.find_first_of(":=");
    if (line.compare(0, key.size(), key) != 0 || separator == std::string::npos)
      continue;
    std::string value = line.substr(separator + 1);
    value.erase(0, value.find_first_not_of(" \t\""));
    value.erase(value.find_last_not_of(" \t\"") + 1);
    return value;
  }
  return "";
}

std::string hostName() {
  struct utsname names;
  return uname(&names) == 0 ? names.nodename : "";
}

int64_t processId() { return getpid(); }

int64_t peakResidentBytes() {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t(usage.ru_maxrss) * 1024 : 0;
}

std::vector<NamedText> describeMachine() {
  std::vector<NamedText> texts = {{"Host", hostName()}};
  std::string model = findValue("/proc/cpuinfo", "model name");
  texts.emplace_back("Processor", (model.empty() ? "" : model + ", ") +
                                      formatPlural(rt::numAllowedProcessors(), "core"));
  texts.emplace_back("Memory", formatBytes(double(rt::physicalMemoryBytes())));
  std::string system = findValue("/etc/os-release", "PRETTY_NAME");
  struct utsname names;
  if (uname(&names) == 0)
    system += (system.empty() ? "" : ", ") + std::string(names.sysname) + " " + names.release;
  texts.emplace_back("System", system);
  return texts;
}

std::string describeNow() {
  std::time_t now = std::time(nullptr);
  struct tm parts;
  char text[64];
  if (!localtime_r(&now, &parts) || !std::strftime(text, sizeof(text), "%F %T %Z", &parts))
    return "";
  return text;
}

} // namespace coll::run
