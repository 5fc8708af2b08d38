#include "plan/topology.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace coll::plan {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr int64_t kMostRanks = 1 << 24;

std::string inQuotes(const std::string &text) { return Json(text).dump(); }

// Reads values of one file. Keeps the first error, with its place.
class Reader {
public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  const std::string &error() const { return error_; }
  bool failed() const { return !error_.empty(); }
  void fail(const std::string &place, const std::string &what) {
    if (error_.empty())
      error_ = file_ + ": " + (place.empty() ? "" : place + ": ") + what;
  }

  const Json *member(const Json &object, const std::string &place, const char *name) {
    const std::string path = place.empty() ? name : place + "." + name;
    if (!object.is_object())
      fail(place, std::string("is ") + object.type_name() + ", needs an object");
    else if (auto found = object.find(name); found != object.end())
      return &*found;
    else
      fail(path, "is missing");
    return nullptr;
  }

  void onlyMembers(const Json &object, const std::string &place,
                   const std::set<std::string> &known) {
    if (!object.is_object())
      return;
    for (const auto &[name, value] : object.items())
      if (!known.count(name))
        fail(place.empty() ? name : place + "." + name, "is not a field of a topology");
  }

  const Json *list(const Json &object, const std::string &place, const char *name) {
    const Json *value = member(object, place, name);
    if (value && !value->is_array()) {
      fail(place.empty() ? name : place + "." + name,
           std::string("is ") + value->type_name() + ", needs an array");
      return nullptr;
    }
    return value;
  }

  double number(const Json &object, const std::string &place, const char *name, double above) {
    const Json *value = member(object, place, name);
    if (!value)
      return 0;
    if (!value->is_number() || !std::isfinite(value->get<double>()) ||
        value->get<double>() < above || (above == 0 && value->get<double>() == 0))
      fail(place + "." + name, "is " + value->dump() + ", needs a number above 0");
    return failed() ? 0 : value->get<double>();
  }

  std::string text(const Json &value, const std::string &place) {
    if (!value.is_string() || value.get<std::string>().empty())
      fail(place, "is " + value.dump() + ", needs a name");
    return failed() ? std::string() : value.get<std::string>();
  }

private:
  std::string file_, error_;
};

std::string at(const char *list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

void readHosts(const Json &root, Reader &reader, Topology &topology) {
  const Json *hosts = reader.list(root, "", "hosts");
  if (!hosts)
    return;
  if (hosts->empty())
    reader.fail("hosts", "is empty, needs at least one host");
  std::set<std::string> names;
  for (size_t i = 0; i < hosts->size() && !reader.failed(); ++i) {
    const std::string place = at("hosts", i);
    reader.onlyMembers((*hosts)[i], place,
                       {"name", "ranks", "gflop_per_s", "memory_gb_per_s", "cache_gb_per_s",
                        "kernel_us", "matrix_us", "row_us"});
    const Json *name = reader.member((*hosts)[i], place, "name");
    const Json *ranks = reader.member((*hosts)[i], place, "ranks");
    if (!name || !ranks)
      return;
    Topology::Host host;
    host.name = reader.text(*name, place + ".name");
    if (host.name == "*")
      reader.fail(place + ".name", "\"*\" stands for every host");
    if (!names.insert(host.name).second)
      reader.fail(place + ".name", "host " + inQuotes(host.name) + " is there twice");
    if (!ranks->is_number_integer() || ranks->get<int64_t>() < 1 ||
        ranks->get<int64_t>() > kMostRanks) {
      reader.fail(place + ".ranks", "is " + ranks->dump() + ", needs a number of ranks from 1 to " +
                                        std::to_string(kMostRanks));
      return;
    }
    host.ranks = ranks->get<int64_t>();
    for (auto [field, value] :
         {std::pair("gflop_per_s", &host.gflopPerS),
          std::pair("memory_gb_per_s", &host.memoryGbPerS),
          std::pair("cache_gb_per_s", &host.cacheGbPerS), std::pair("kernel_us", &host.kernelUs),
          std::pair("matrix_us", &host.matrixUs), std::pair("row_us", &host.rowUs)})
      if ((*hosts)[i].contains(field))
        *value = reader.number((*hosts)[i], place, field, 0);
    topology.hosts.push_back(host);
  }
}

void readLinks(const Json &root, Reader &reader, Topology &topology) {
  const Json *links = reader.list(root, "", "links");
  for (size_t i = 0; links && i < links->size() && !reader.failed(); ++i) {
    const std::string place = at("links", i);
    const Json &entry = (*links)[i];
    reader.onlyMembers(entry, place, {"between", "bandwidth_gb_per_s", "latency_us", "call_us"});
    const Json *between = reader.list(entry, place, "between");
    if (!between)
      return;
    if (between->size() != 2) {
      reader.fail(place + ".between",
                  "has " + std::to_string(between->size()) + " entries, needs two hosts");
      return;
    }
    Topology::Link link;
    link.from = reader.text((*between)[0], place + ".between[0]");
    link.to = reader.text((*between)[1], place + ".between[1]");
    for (const std::string &name : {link.from, link.to})
      if (name != "*" && std::none_of(topology.hosts.begin(), topology.hosts.end(),
                                      [&](const auto &host) { return host.name == name; }))
        reader.fail(place + ".between", "there is no host " + inQuotes(name));
    link.gbPerS = reader.number(entry, place, "bandwidth_gb_per_s", 0);
    link.latencyUs = reader.number(entry, place, "latency_us", 0);
    if (entry.contains("call_us"))
      link.callUs = reader.number(entry, place, "call_us", 0);
    for (const Topology::Link &other : topology.links)
      if ((other.from == link.from && other.to == link.to) ||
          (other.from == link.to && other.to == link.from))
        reader.fail(place + ".between", "the link " + inQuotes(link.from) + ", " +
                                            inQuotes(link.to) + " is there twice");
    topology.links.push_back(link);
  }
}

// All ranks can reach each other.
void checkLinks(Reader &reader, const Topology &topology) {
  for (size_t i = 0; i < topology.hosts.size() && !reader.failed(); ++i)
    for (size_t j = i; j < topology.hosts.size(); ++j) {
      const Topology::Host &a = topology.hosts[i], &b = topology.hosts[j];
      if ((i == j && a.ranks == 1) || topology.find(a.name, b.name))
        continue;
      const std::string pair = inQuotes(a.name) + ", " + inQuotes(b.name);
      reader.fail("links", (i == j ? "no link between the ranks of host " + inQuotes(a.name)
                                   : "no link between hosts " + pair) +
                               "; add {\"between\": [" + pair +
                               "], \"bandwidth_gb_per_s\": ..., \"latency_us\": ...}");
      return;
    }
}

} // namespace

int64_t Topology::numRanks() const {
  int64_t ranks = 0;
  for (const Host &host : hosts)
    ranks += host.ranks;
  return ranks;
}

const Topology::Link *Topology::find(const std::string &from, const std::string &to) const {
  auto entry = [&](const std::string &a, const std::string &b) -> const Link * {
    for (const Link &link : links)
      if ((link.from == a && link.to == b) || (link.from == b && link.to == a))
        return &link;
    return nullptr;
  };
  if (const Link *link = entry(from, to))
    return link;
  if (from == to)
    return nullptr;
  for (const std::string &name : {from, to})
    if (const Link *link = entry(name, "*"))
      return link;
  return entry("*", "*");
}

Result<Topology> parseTopology(std::string_view text, const std::string &file) {
  Json root;
  try {
    root = Json::parse(text);
  } catch (const Json::parse_error &error) {
    const size_t end = std::min<size_t>(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(end), '\n');
    return Error{file + ":" + std::to_string(line) + ": is not JSON"};
  }
  Reader reader(file);
  reader.onlyMembers(root, "", {"version", "hosts", "links"});
  if (const Json *version = reader.member(root, "", "version"))
    if (*version != kVersion)
      reader.fail("version",
                  "is " + version->dump() + ", this program reads " + std::to_string(kVersion));
  Topology topology;
  if (!reader.failed())
    readHosts(root, reader, topology);
  if (!reader.failed() && topology.numRanks() > kMostRanks)
    reader.fail("hosts", "has more than " + std::to_string(kMostRanks) + " ranks");
  if (!reader.failed())
    readLinks(root, reader, topology);
  if (!reader.failed())
    checkLinks(reader, topology);
  if (reader.failed())
    return Error{reader.error()};
  return topology;
}

Result<Topology> readTopology(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf()))
    return Error{file + ": cannot be read"};
  return parseTopology(text.str(), file);
}

Topology assumedTopology(int64_t ranks) {
  Topology topology;
  topology.hosts.push_back({"host", ranks});
  topology.links.push_back({"host", "host", /*gbPerS=*/10, /*latencyUs=*/5, /*callUs=*/0});
  return topology;
}

std::string toJson(const Topology &topology) {
  Json hosts = Json::array(), links = Json::array();
  for (const Topology::Host &host : topology.hosts)
    hosts.push_back({{"name", host.name},
                     {"ranks", host.ranks},
                     {"gflop_per_s", host.gflopPerS},
                     {"memory_gb_per_s", host.memoryGbPerS},
                     {"cache_gb_per_s", host.cacheGbPerS},
                     {"kernel_us", host.kernelUs},
                     {"matrix_us", host.matrixUs},
                     {"row_us", host.rowUs}});
  for (const Topology::Link &link : topology.links) {
    links.push_back({{"between", {link.from, link.to}},
                     {"bandwidth_gb_per_s", link.gbPerS},
                     {"latency_us", link.latencyUs}});
    if (link.callUs > 0)
      links.back()["call_us"] = link.callUs;
  }
  return Json({{"version", kVersion}, {"hosts", hosts}, {"links", links}}).dump(2) + "\n";
}

} // namespace coll::plan
