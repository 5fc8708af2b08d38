#include "runtime/base/table_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace coll::rt {

namespace {

using Json = nlohmann::json;

constexpr const char *kFormat = "coll routes";
constexpr int kVersion = 1;
constexpr size_t kMaxFileBytes = 16 << 20;

// "file:3:14", of the byte at `offset`.
std::string placeOf(const std::string &name, const std::string &text, size_t offset) {
  offset = std::min(offset, text.size());
  auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n') + 1;
  size_t lineStart = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  size_t column = offset - (lineStart == std::string::npos ? 0 : lineStart + 1) + 1;
  return name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

} // namespace

Result<std::string> readTableFile(const std::string &path) {
  // Opening a pipe would wait for its writer, so only regular files are opened.
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0)
    return Status::invalid(path + ": cannot be read: " + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return Status::invalid(path + ": is not a regular file");
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.gcount() == 0 && !file.eof()) || !file.is_open())
    return Status::invalid(path + ": cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes)
    return Status::invalid(path + ": too large for a table of routes");
  return text;
}

Result<Json> parseTable(const std::string &text, const std::string &name) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error &error) {
    return Status::invalid(placeOf(name, text, error.byte > 0 ? error.byte - 1 : 0) + ": not JSON");
  } catch (const Json::exception &) { // it has no position
    return Status::invalid(name + ": a number is too large");
  }
  auto wrong = [&](const std::string &what) { return Status::invalid(name + ": " + what); };
  if (!json.is_object() || !json.contains("format") || json["format"] != kFormat)
    return wrong("not a table of routes: \"format\" is not \"coll routes\"");
  if (!json.contains("version") || json["version"] != kVersion)
    return wrong("\"version\" has to be " + std::to_string(kVersion) +
                 "; write the table again with coll-perf tune");
  return json;
}

std::string unexpected(const char *wanted, const Json &value) {
  constexpr size_t kMostBytes = 80;
  std::string found = "a list or an object";
  if (value.is_string() && value.get_ref<const std::string &>().size() > kMostBytes)
    found = "a long text";
  else if (value.is_primitive())
    found = value.dump();
  return std::string("expected ") + wanted + ", not " + found;
}

} // namespace coll::rt
