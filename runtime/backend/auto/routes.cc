#include "runtime/backend/auto/routes.h"

#include "runtime/base/dtype.h"
#include "runtime/base/env.h"
#include "runtime/base/paths.h"
#include "runtime/base/table_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace coll::rt {

namespace {

using Json = nlohmann::json;

constexpr int64_t kMostRanks = 1 << 30;
constexpr const char *kFields[] = {"op",    "dtype",    "memory",    "ranks",   "max_ranks",
                                   "group", "captured", "max_bytes", "backend", "why"};

std::optional<OpKind> kindOf(const std::string &name) {
  for (int kind = 0; kind <= static_cast<int>(OpKind::Recv); ++kind)
    if (name == kindName(static_cast<OpKind>(kind)))
      return static_cast<OpKind>(kind);
  return std::nullopt;
}

// Reads one route; `error` says what is wrong with it.
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
    const bool isKnown = std::any_of(std::begin(kFields), std::end(kFields),
                                     [&](const char *name) { return key == name; });
    if (!isKnown)
      return "unknown field; the fields are op, dtype, memory, ranks, max_ranks, group, "
             "captured, max_bytes, backend, why";
    if (key == "max_bytes" || key == "ranks" || key == "max_ranks")
      return number(key, value, route);
    if (key == "captured") {
      if (!value.is_boolean())
        return unexpected("true or false", value);
      route.isCaptured = value.get<bool>();
      return "";
    }
    if (!value.is_string())
      return unexpected("a text", value);
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
    if (key == "group") {
      if (text == "all")
        route.isWorld = true;
      return known(route.isWorld, "group", text);
    }
    if (key == "why") {
      route.why = text;
      return "";
    }
    std::vector<std::string> names = backendNames();
    if (std::find(names.begin(), names.end(), text) == names.end() || text == "auto")
      return "no backend is called \"" + text + "\"";
    route.backend = text;
    return "";
  }
  static std::string number(const std::string &key, const Json &value, Route &route) {
    const bool isRanks = key != "max_bytes";
    if (!value.is_number_integer() || value.get<int64_t>() < (isRanks ? 1 : 0) ||
        (isRanks && value.get<int64_t>() > kMostRanks))
      return unexpected("a number", value);
    if (isRanks)
      (key == "ranks" ? route.ranks : route.maxRanks) = value.get<int>();
    else
      route.maxBytes = value.get<int64_t>();
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
         (!maxRanks || query.ranks <= *maxRanks) && (!isGpu || *isGpu == query.isGpu) &&
         (!isWorld || *isWorld == query.isWorld) &&
         (!isCaptured || *isCaptured == query.isCaptured);
}

std::string Route::describe() const {
  std::string text = kind ? kindName(*kind) : "every operation";
  if (dtype)
    text += std::string(" of ") + dtypeName(*dtype);
  if (isGpu)
    text += *isGpu ? ", gpu memory" : ", host memory";
  if (ranks)
    text += ", " + std::to_string(*ranks) + " ranks";
  if (maxRanks)
    text += ", up to " + std::to_string(*maxRanks) + " ranks";
  if (isWorld)
    text += ", the group of all";
  if (isCaptured)
    text += *isCaptured ? ", in graphs" : ", not in graphs";
  if (maxBytes)
    text += ", up to " + std::to_string(*maxBytes) + " bytes";
  return text + " -> " + backend + (why.empty() ? "" : " (" + why + ")");
}

namespace {

constexpr int64_t kKiB = 1024;

// Small calls: kernels of at most 100 blocks, so that on an H200 any kernel of NCCL has room beside
// them, whichever of them waits for the other (see the README). Up to these sizes they were as fast
// as NCCL or faster on 2 and 4 H200, except in a few measurements (test/perf/ops.jsonl,
// peers.jsonl).
struct Small {
  OpKind kind;
  std::optional<int> ranks; // none: up to 4
  int64_t maxBytes;
};
constexpr Small kSmall[] = {
    {OpKind::AllReduce, 4, 512 * kKiB},
    {OpKind::ReduceScatter, 4, 512 * kKiB},
    {OpKind::AllToAll, 4, 512 * kKiB},
    {OpKind::AllReduce, std::nullopt, 128 * kKiB},
    {OpKind::ReduceScatter, std::nullopt, 256 * kKiB},
    {OpKind::AllToAll, std::nullopt, 256 * kKiB},
    {OpKind::AllGather, std::nullopt, 128 * kKiB},
    {OpKind::Broadcast, std::nullopt, 128 * kKiB},
    {OpKind::Reduce, std::nullopt, 128 * kKiB},
};
constexpr int kMostTimed = 4;

Route routeOf(const Small &small) {
  Route route;
  route.kind = small.kind;
  route.isGpu = route.isWorld = true;
  route.isCaptured = false;
  route.ranks = small.ranks;
  if (!small.ranks)
    route.maxRanks = kMostTimed;
  route.maxBytes = small.maxBytes;
  route.backend = "direct";
  route.why = "as fast as NCCL or faster on 2 and 4 H200, and leaves room for its kernels";
  return route;
}

} // namespace

Demand Routes::demandFor(const std::string &backend) const {
  bool leavesRest = true;
  for (size_t i = 0; i < routes_.size(); ++i) {
    const Route &route = routes_[i];
    if (route.backend == backend && (i < numOfTable_ || leavesRest))
      return i < numOfTable_ ? Demand::ByTable : Demand::ByDefault;
    if (!route.kind && !route.dtype && !route.maxBytes && !route.ranks && !route.maxRanks &&
        route.isGpu.value_or(true) && !route.isWorld && !route.isCaptured)
      leavesRest = false;
  }
  return Demand::None;
}

Routes Routes::defaults() {
  Routes routes;
  routes.origin_ = "the defaults";
  for (const Small &small : kSmall)
    routes.routes_.push_back(routeOf(small));
  auto add = [&](bool isGpu, const char *backend, const char *why) {
    Route route;
    route.isGpu = isGpu;
    route.backend = backend;
    route.why = why;
    routes.routes_.push_back(std::move(route));
  };
  add(true, "nccl", "default for GPU memory");
  add(true, "net", "default for GPU memory if nccl is missing or rejects the call");
  add(false, "threads", "default for host memory in one process");
  add(false, "net", "default for host memory between processes");
  return routes;
}

Result<Routes> Routes::parse(const std::string &text, const std::string &name) {
  Result<Json> table = parseTable(text, name);
  if (!table)
    return table.status();
  const Json &json = *table;
  auto wrong = [&](const std::string &what) { return Status::invalid(name + ": " + what); };
  if (!json.contains("routes") || !json["routes"].is_array())
    return wrong("\"routes\" is not a list");
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
  // Checks the part "paths", which backend net and the plugin for NCCL read from the same file.
  COLL_RETURN_IF_ERROR(Paths::read(json, name).status());
  routes.numOfTable_ = routes.routes_.size();
  const Routes last = defaults();
  routes.routes_.insert(routes.routes_.end(), last.routes_.begin(), last.routes_.end());
  return routes;
}

Result<Routes> Routes::load(const std::string &path) {
  Result<std::string> text = readTableFile(path);
  return text ? parse(*text, path) : Result<Routes>(text.status());
}

Result<Routes> Routes::fromEnv() {
  std::string path = envString(EnvVar::Routes);
  if (path.empty())
    return defaults();
  Result<Routes> routes = load(path);
  return routes ? routes : Result<Routes>(routes.status().annotate("COLL_ROUTES"));
}

} // namespace coll::rt
