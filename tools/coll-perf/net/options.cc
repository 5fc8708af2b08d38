#include "tools/coll-perf/net/options.h"

#include "runtime/net/bond/bond.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace coll::perf {

using rt::Result;
using rt::Status;

namespace {

constexpr uint64_t kMaxArenaBytes = uint64_t(8) << 30;
const std::pair<Mode, const char *> kModes[] = {
    {Mode::Latency, "latency"}, {Mode::OneWay, "one-way"}, {Mode::BothWays, "both-ways"}};
const std::pair<Op, const char *> kOps[] = {
    {Op::Send, "send"}, {Op::Write, "write"}, {Op::Read, "read"}};

template <typename Value, size_t N>
Result<Value> find(const std::pair<Value, const char *> (&table)[N], const std::string &text) {
  std::string known;
  for (const auto &[value, name] : table) {
    if (text == name)
      return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  return Status::invalid("\"" + text + "\" is none of " + known);
}

} // namespace

const char *nameOf(Mode mode) { return kModes[static_cast<size_t>(mode)].second; }
const char *nameOf(Op op) { return kOps[static_cast<size_t>(op)].second; }

Result<std::vector<Mode>> parseModes(const std::string &text) {
  std::vector<Mode> modes;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    Result<Mode> mode = find(kModes, text.substr(begin, end - begin));
    if (!mode.ok())
      return mode.status();
    modes.push_back(*mode);
    begin = end + 1;
  }
  return modes;
}

Result<Op> parseOp(const std::string &text) { return find(kOps, text); }

uint64_t NetPlan::largest() const {
  return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
}

Status check(const NetPlan &plan) {
  if (plan.transport != "tcp" && plan.transport != "verbs")
    return Status::invalid("unknown transport \"" + plan.transport +
                           "\"; --transport is tcp or verbs");
  if (plan.sizes.empty() || plan.modes.empty())
    return Status::invalid("--sizes or --modes is empty");
  if (std::count(plan.sizes.begin(), plan.sizes.end(), 0u))
    return Status::invalid("--sizes have to be 1 byte or more");
  COLL_RETURN_IF_ERROR(checkRange("--connections", plan.connections, 1, 1024));
  COLL_RETURN_IF_ERROR(checkRange("--inflight", plan.inflight, 1, 128));
  COLL_RETURN_IF_ERROR(checkRange("--rails", plan.rails, 1, net::BondOptions::kMaxRails));
  COLL_RETURN_IF_ERROR(checkRange("--sockets", plan.sockets, 0, 16));
  COLL_RETURN_IF_ERROR(checkRange("--threads", plan.threads, 0, 64));
  COLL_RETURN_IF_ERROR(checkRange("--seconds", plan.seconds, 0.001, 60));
  COLL_RETURN_IF_ERROR(checkRange("--repeat", plan.repeat, 1, 100));
  uint64_t slots = static_cast<uint64_t>(plan.connections) * static_cast<uint64_t>(plan.inflight);
  if (plan.largest() > kMaxArenaBytes / slots)
    return Status::invalid("messages of " + formatBytes(plan.largest()) + ", " +
                           std::to_string(slots) + " in flight, need more than " +
                           formatBytes(kMaxArenaBytes) +
                           " of buffers: use fewer --connections, or a smaller --inflight");
  return {};
}

std::string encode(const NetPlan &plan) {
  nlohmann::json json;
  json["transport"] = plan.transport;
  json["sizes"] = plan.sizes;
  json["modes"] = nlohmann::json::array();
  for (Mode mode : plan.modes)
    json["modes"].push_back(nameOf(mode));
  json["op"] = nameOf(plan.op);
  json["connections"] = plan.connections;
  json["inflight"] = plan.inflight;
  json["rails"] = plan.rails;
  json["sockets"] = plan.sockets;
  json["threads"] = plan.threads;
  json["seconds"] = plan.seconds;
  json["repeat"] = plan.repeat;
  json["peer"] = plan.peer;
  return json.dump();
}

Result<NetPlan> decodePlan(const std::string &text) {
  try {
    nlohmann::json json = nlohmann::json::parse(text);
    NetPlan plan;
    plan.transport = json.at("transport").get<std::string>();
    plan.sizes = json.at("sizes").get<std::vector<uint64_t>>();
    plan.modes.clear();
    for (const nlohmann::json &name : json.at("modes")) {
      Result<Mode> mode = find(kModes, name.get<std::string>());
      if (!mode.ok())
        return mode.status();
      plan.modes.push_back(*mode);
    }
    Result<Op> op = parseOp(json.at("op").get<std::string>());
    if (!op.ok())
      return op.status();
    plan.op = *op;
    plan.connections = json.at("connections").get<int>();
    plan.inflight = json.at("inflight").get<int>();
    plan.rails = json.at("rails").get<int>();
    plan.sockets = json.at("sockets").get<int>();
    plan.threads = json.at("threads").get<int>();
    plan.seconds = json.at("seconds").get<double>();
    plan.repeat = json.at("repeat").get<int>();
    plan.peer = json.at("peer").get<bool>();
    if (Status sound = check(plan); !sound.ok())
      return sound.annotate("the listening side's plan");
    return plan;
  } catch (const nlohmann::json::exception &error) {
    return Status(
        kCollMismatch,
        std::string("the listening side is of another version, its plan cannot be read: ") +
            error.what());
  }
}

} // namespace coll::perf
