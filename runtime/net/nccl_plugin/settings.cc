#include "runtime/net/nccl_plugin/settings.h"

#include "runtime/base/env.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>

namespace coll::net::nccl {

namespace {

std::vector<std::string> splitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(','), text.size());
    if (end > 0)
      parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

void appendName(std::string &list, const std::string &name) {
  for (const std::string &known : splitAtCommas(list))
    if (known == name)
      return;
  list += (list.empty() ? "" : ",") + name;
}

Result<std::string> chooseInterfaces() {
  std::string own = rt::envString(rt::EnvVar::NetIface);
  if (!own.empty())
    return own;
  Result<std::vector<Interface>> all = findInterfaces("0.0.0.0/0,::/0");
  if (!all.ok())
    return all.status();
  if (std::optional<std::string> nccl = rt::foreignEnv("NCCL_SOCKET_IFNAME"))
    return ncclInterfaceChoice(*nccl, *all);
  // Without a choice, bridges of containers and the loopback are omitted, as NCCL does.
  for (const char *bridges : {"^docker,lo,virbr,veth", "^lo", ""}) {
    Result<std::string> names = ncclInterfaceChoice(bridges, *all);
    if (names.ok())
      return names;
  }
  return Status(kCollDevice, "no network interface is up");
}

} // namespace

Result<std::string> ncclInterfaceChoice(std::string_view choice,
                                        const std::vector<Interface> &interfaces) {
  std::string_view rest = choice;
  bool except = !rest.empty() && rest.front() == '^';
  rest.remove_prefix(except ? 1 : 0);
  bool exact = !rest.empty() && rest.front() == '=';
  rest.remove_prefix(exact ? 1 : 0);
  std::vector<std::string> names = splitAtCommas(rest);
  auto named = [&](const std::string &name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string &wanted) {
      // NCCL ignores a port after the name.
      std::string text = wanted.substr(0, wanted.find(':'));
      return exact ? name == text : name.compare(0, text.size(), text) == 0;
    });
  };
  std::string list;
  for (const Interface &interface : interfaces)
    if (names.empty() || named(interface.name) != except)
      appendName(list, interface.name);
  if (list.empty())
    return Status(kCollDevice, "no interface that is up matches \"" + std::string(choice) + "\"");
  return list;
}

Result<Settings> Settings::fromEnv() {
  Settings settings;
  settings.transport = rt::envString(rt::EnvVar::NetTransport);
  Result<std::string> iface = chooseInterfaces();
  if (!iface.ok())
    return iface.status();
  settings.iface = iface.take();
  if (std::string text = rt::envString(rt::EnvVar::Secret); !text.empty()) {
    Result<Secret> secret = Secret::create(text);
    if (!secret.ok())
      return secret.status();
    settings.secret = *secret;
  }
  settings.speedMbps = static_cast<int>(rt::envInt(rt::EnvVar::NetSpeedMbps));
  return settings;
}

std::string pciPathOf(const std::string &interface) {
  char resolved[PATH_MAX];
  std::string link = "/sys/class/net/" + interface + "/device";
  return ::realpath(link.c_str(), resolved) ? resolved : "";
}

int speedMbpsOf(const std::string &interface) {
  int speed = 0;
  std::ifstream file("/sys/class/net/" + interface + "/speed");
  return file >> speed && speed > 0 ? speed : 0;
}

} // namespace coll::net::nccl
