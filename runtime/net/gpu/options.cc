#include "runtime/base/env.h"
#include "runtime/base/paths.h"
#include "runtime/net/gpu/transport.h"

#include <charconv>

namespace coll::net {

namespace {

// The name of this project's variable, and of NCCL's.
struct Names {
  rt::EnvVar ours;
  const char *nccl;

  bool hasOurs() const {
    return rt::foreignEnv(rt::envTable()[static_cast<size_t>(ours)].name).has_value();
  }
  bool isSet() const { return hasOurs() || rt::foreignEnv(nccl); }
  // The value of this project's variable if it is set, else of NCCL's, else the default.
  std::string value() const {
    return hasOurs() || !rt::foreignEnv(nccl) ? rt::envString(ours) : *rt::foreignEnv(nccl);
  }
};
constexpr Names kUnpack = {rt::EnvVar::NetUnpack, "NCCL_NET_DEVICE_UNPACK_ENABLED"};
constexpr Names kThreshold = {rt::EnvVar::NetUnpackThreshold, "NCCL_NET_DEVICE_UNPACK_THRESHOLD"};

Status parseBytes(const std::string &text, const char *name, uint64_t &value) {
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && stop == text.data() + text.size())
    return {};
  return Status::invalid(std::string(name) + " is not a number of bytes: \"" + text + "\"");
}

} // namespace

Result<DeviceOptions> DeviceOptions::fromEnv() {
  DeviceOptions options;
  std::string unpack = kUnpack.value();
  if (unpack != "auto" && unpack != "0" && unpack != "1")
    return Status::invalid("COLL_NET_DEVICE_UNPACK must be auto, 0 or 1, not \"" + unpack + "\"");
  options.receive = unpack == "auto" ? ReceivePath::Auto
                    : unpack == "1"  ? ReceivePath::Unpack
                                     : ReceivePath::Host;
  COLL_RETURN_IF_ERROR(
      parseBytes(kThreshold.value(), "COLL_NET_DEVICE_UNPACK_THRESHOLD", options.unpackThreshold));
  Result<PagePolicy> pages = parsePagePolicy(rt::envString(rt::EnvVar::NetPages));
  if (!pages.ok())
    return pages.status().annotate("COLL_NET_DEVICE_PAGES");
  options.pages = *pages;
  options.scatter = rt::envInt(rt::EnvVar::NetScatter) != 0;
  COLL_RETURN_IF_ERROR(parseBytes(rt::envString(rt::EnvVar::NetBounceBytes),
                                  "COLL_NET_BOUNCE_BYTES", options.bounceBytes));
  return options;
}

Result<DeviceOptions> DeviceOptions::fromEnvAndTable(const std::string &transport) {
  Result<DeviceOptions> options = fromEnv();
  if (!options.ok())
    return options;
  if (kUnpack.isSet() || kThreshold.isSet()) {
    options->chosenBy = "the environment";
    return options;
  }
  Result<rt::Paths> paths = rt::Paths::fromEnv();
  if (!paths.ok())
    return paths.status();
  const std::string kind = rt::transportKind(transport, options->scatter);
  const rt::PathRule *rule = paths->pathFor(kind, kMaxDeviceMessageBytes);
  if (!rule)
    return options;
  options->isByTable = true;
  options->chosenBy = "the table of COLL_ROUTES" + (rule->why.empty() ? "" : ": " + rule->why);
  const bool unpacks = rule->path == rt::DataPath::Unpack || rule->path == rt::DataPath::Pack;
  options->receive = unpacks ? ReceivePath::Unpack : ReceivePath::Host;
  if (options->unpacks())
    options->unpackThreshold = static_cast<uint64_t>(paths->endOf(kind, rt::DataPath::Host));
  return options;
}

} // namespace coll::net
