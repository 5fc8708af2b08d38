#include "runtime/base/paths.h"

#include "runtime/base/env.h"
#include "runtime/base/table_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace coll::rt {

namespace {

using Json = nlohmann::json;

constexpr const char *kPaths[] = {"host", "unpack", "kernel", "pack"}; // by DataPath
constexpr const char *kTransports[] = {"tcp", "verbs", "loopback"};

bool isKind(const std::string &text) {
  return std::any_of(std::begin(kTransports), std::end(kTransports), [&](const char *transport) {
    return text == transportKind(transport, false) || text == transportKind(transport, true);
  });
}

// What is wrong with a field, or nothing.
std::string readField(const std::string &key, const Json &value, PathRule &rule, bool &hasPath) {
  if (key == "max_bytes") {
    if (!value.is_number_integer() || value.get<int64_t>() < 0)
      return unexpected("a number", value);
    rule.maxBytes = value.get<int64_t>();
    return "";
  }
  if (key != "kind" && key != "path" && key != "why")
    return "unknown field; the fields are kind, max_bytes, path, why";
  if (!value.is_string())
    return unexpected("a text", value);
  const std::string text = value.get<std::string>();
  if (key == "why") {
    rule.why = text;
    return "";
  }
  if (key == "kind") {
    rule.kind = text;
    return isKind(text)
               ? ""
               : "unknown kind of transport \"" + text +
                     "\"; the kinds are tcp, verbs, loopback, each with \" scatter\" or not";
  }
  const auto *found = std::find(std::begin(kPaths), std::end(kPaths), text);
  hasPath = found != std::end(kPaths);
  rule.path = hasPath ? static_cast<DataPath>(found - kPaths) : DataPath::Host;
  return hasPath ? "" : "unknown path \"" + text + "\"; the paths are host, unpack, kernel, pack";
}

std::string readRule(const Json &json, PathRule &rule) {
  if (!json.is_object())
    return ": a path has to be an object";
  bool hasPath = false;
  for (const auto &[key, value] : json.items())
    if (std::string error = readField(key, value, rule, hasPath); !error.empty())
      return "." + key + ": " + error;
  if (rule.kind.empty())
    return ": it names no kind of transport";
  return hasPath ? "" : ": it names no path";
}

} // namespace

const char *pathName(DataPath path) { return kPaths[static_cast<size_t>(path)]; }

std::string transportKind(const std::string &transport, bool scatter) {
  return scatter ? transport + " scatter" : transport;
}

std::string PathRule::describe() const {
  return kind + (maxBytes ? ", up to " + std::to_string(*maxBytes) + " bytes" : "") + " -> " +
         pathName(path) + (why.empty() ? "" : " (" + why + ")");
}

Result<Paths> Paths::read(const Json &table, const std::string &name) {
  Paths paths;
  auto part = table.find("paths");
  if (part == table.end())
    return paths;
  if (!part->is_array())
    return Status::invalid(name + ": \"paths\" is not a list");
  for (const Json &entry : *part) {
    PathRule rule;
    if (std::string error = readRule(entry, rule); !error.empty())
      return Status::invalid(name + ": paths[" + std::to_string(paths.rules_.size()) + "]" + error);
    paths.rules_.push_back(std::move(rule));
  }
  return paths;
}

Result<Paths> Paths::fromEnv() {
  const std::string path = envString(EnvVar::Routes);
  if (path.empty())
    return Paths();
  Result<std::string> text = readTableFile(path);
  if (!text)
    return text.status().annotate("COLL_ROUTES");
  Result<Json> table = parseTable(*text, path);
  if (!table)
    return table.status().annotate("COLL_ROUTES");
  Result<Paths> paths = read(*table, path);
  return paths ? paths : Result<Paths>(paths.status().annotate("COLL_ROUTES"));
}

const PathRule *Paths::pathFor(const std::string &kind, int64_t bytes) const {
  for (const PathRule &rule : rules_)
    if (rule.kind == kind && bytes <= rule.maxBytes.value_or(INT64_MAX))
      return &rule;
  return nullptr;
}

int64_t Paths::endOf(const std::string &kind, DataPath path) const {
  int64_t end = 0;
  for (const PathRule &rule : rules_) {
    const int64_t most = rule.maxBytes.value_or(INT64_MAX);
    if (rule.kind != kind || most < end) // an earlier rule would take all its sizes
      continue;
    if (rule.path != path)
      break;
    end = std::min(most, INT64_MAX - 1) + 1;
  }
  return end;
}

} // namespace coll::rt
