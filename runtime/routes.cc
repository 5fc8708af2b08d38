#include "runtime/routes.h"

#include "runtime/base/dtype.h"
#include "runtime/base/env.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace coll::rt {

namespace {

using Json = nlohmann::json;

constexpr const char *kFormat = "coll routes";
constexpr int kVersion = 1;
constexpr size_t kMaxFileBytes = 16 << 20;

std::optional<OpKind> kindOf(const std::string &name) {
  for (int kind = 0; kind <= static_cast<int>(OpKind::Recv); ++kind)
    if (name == kindName(static_cast<OpKind>(kind)))
      return static_cast<OpKind>(kind);
  return std::nullopt;
}

// "file:3:14", of the byte at `offset`.
std::string placeOf(const std::string &name, const std::string &text, size_t offset) {
  offset = std::min(offset, text.size());
  auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n') + 1;
  size_t lineStart = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  size_t column = offset - (lineStart == std::string::npos ? 0 : lineStart + 1) + 1;
  return name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

// Reads one route; `error` is what is wrong with it.
class RouteReader {
public:
  explicit RouteReader(const Json &json) : json_(json) {}

  std::string read(Route &route) {
    if (!json_.is_object())
      return ": a route has to be an object";
    for (const auto &[key, value] : json_.items())
      if (std::string error = field(key, value, route); !error.empty())
        return "." + key + ": " + error;
    return route.backend.empty() ? ": it names no backend" : "";
  }

private:
  static std::string field(const std::string &key, const Json &value, Route &route) {
    if (key == "max_bytes" || key == "ranks") {
      if (!value.is_number_integer() || value.get<int64_t>() < 0 ||
          (key == "ranks" && (value.get<int64_t>() < 1 || value.get<int64_t>() > (1 << 30))))
        return "expected a number, not " + value.dump();
      if (key == "ranks")
        route.ranks = value.get<int>();
      else
        route.maxBytes = value.get<int64_t>();
      return "";
    }
    if (!value.is_string())
      return "expected a text, not " + value.dump();
    const std::string text = value.get<std::string>();
    if (key == "op")
      return known(route.kind = kindOf(text), "operation", text);
    if (key == "dtype")
      return known(route.dtype = parseDtype(text), "element type", text);
    if (key == "memory") {
      if (text == "gpu" || text == "host")
        route.isGpu = text == "gpu";
      return known(route.isGpu, "memory", text);
    }
    if (key == "why") {
      route.why = text;
      return "";
    }
    if (key != "backend")
      return "there is no such field; there are op, dtype, memory, ranks, max_bytes, backend, why";
    std::vector<std::string> names = backendNames();
    if (std::find(names.begin(), names.end(), text) == names.end() || text == "auto")
      return "no backend is called \"" + text + "\"";
    route.backend = text;
    return "";
  }
  template <typename T>
  static std::string known(const std::optional<T> &value, const char *what,
                           const std::string &text) {
    return value ? "" : std::string("there is no ") + what + " \"" + text + "\"";
  }

  const Json &json_;
};

std::string textField(const Json &json, const char *key) {
  auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

} // namespace

RouteQuery queryOf(const Call &call, int ranks, bool isGpu) {
  RouteQuery query;
  query.kind = call.kind;
  query.dtype = call.dtype;
  query.ranks = ranks;
  query.isGpu = isGpu;
  query.bytes = call.outer * call.count * dtypeSize(call.dtype);
  if (call.kind == OpKind::ReduceScatter || call.kind == OpKind::Scatter ||
      call.kind == OpKind::AllToAll)
    query.bytes *= ranks;
  return query;
}

bool Route::fits(const RouteQuery &query) const {
  return (!kind || *kind == query.kind) && (!dtype || *dtype == query.dtype) &&
         (!maxBytes || query.bytes <= *maxBytes) && (!ranks || *ranks == query.ranks) &&
         (!isGpu || *isGpu == query.isGpu);
}

std::string Route::describe() const {
  std::string text = kind ? kindName(*kind) : "every operation";
  if (dtype)
    text += std::string(" of ") + dtypeName(*dtype);
  if (isGpu)
    text += *isGpu ? ", gpu memory" : ", host memory";
  if (ranks)
    text += ", " + std::to_string(*ranks) + " ranks";
  if (maxBytes)
    text += ", up to " + std::to_string(*maxBytes) + " bytes";
  return text + " -> " + backend + (why.empty() ? "" : " (" + why + ")");
}

Routes Routes::defaults() {
  Routes routes;
  routes.origin_ = "the defaults";
  auto add = [&](bool isGpu, const char *backend, const char *why) {
    Route route;
    route.isGpu = isGpu;
    route.backend = backend;
    route.why = why;
    routes.routes_.push_back(std::move(route));
  };
  add(true, "nccl", "default for GPU memory");
  add(true, "net", "default for GPU memory where nccl is not there or does not take the call");
  add(false, "threads", "default for host memory in one process");
  add(false, "net", "default for host memory between processes");
  return routes;
}

Result<Routes> Routes::parse(const std::string &text, const std::string &name) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error &error) {
    return Status::invalid(placeOf(name, text, error.byte > 0 ? error.byte - 1 : 0) +
                           ": this is no JSON");
  } catch (const Json::exception &) { // carries no place
    return Status::invalid(name + ": a number is too large");
  }
  auto wrong = [&](const std::string &what) { return Status::invalid(name + ": " + what); };
  if (!json.is_object() || textField(json, "format") != kFormat)
    return wrong("no table of routes: \"format\" is not \"coll routes\"");
  if (!json.contains("version") || json["version"] != kVersion)
    return wrong("\"version\" has to be " + std::to_string(kVersion) +
                 "; write the table again with coll-perf tune");
  if (!json.contains("routes") || !json["routes"].is_array())
    return wrong("\"routes\" is no list");
  Routes routes;
  routes.origin_ = name;
  if (std::string machine = textField(json, "machine"); !machine.empty())
    routes.origin_ += ", made on " + machine;
  for (size_t i = 0; i < json["routes"].size(); ++i) {
    Route route;
    if (std::string error = RouteReader(json["routes"][i]).read(route); !error.empty())
      return wrong("routes[" + std::to_string(i) + "]" + error);
    routes.routes_.push_back(std::move(route));
  }
  const Routes last = defaults();
  routes.routes_.insert(routes.routes_.end(), last.routes_.begin(), last.routes_.end());
  return routes;
}

Result<Routes> Routes::load(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.gcount() == 0 && !file.eof()) || !file.is_open())
    return Status::invalid(path + ": cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes)
    return Status::invalid(path + ": too large for a table of routes");
  return parse(text, path);
}

Result<Routes> Routes::fromEnv() {
  std::string path = envString(EnvVar::Routes);
  if (path.empty())
    return defaults();
  Result<Routes> routes = load(path);
  return routes ? routes : Result<Routes>(routes.status().annotate("COLL_ROUTES"));
}

} // namespace coll::rt
