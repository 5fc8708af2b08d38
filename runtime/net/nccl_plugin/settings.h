// settings.h - the user's choices, from the environment.

#ifndef COLL_RUNTIME_NET_NCCL_PLUGIN_SETTINGS_H
#define COLL_RUNTIME_NET_NCCL_PLUGIN_SETTINGS_H

#include "runtime/net/auth.h"
#include "runtime/net/socket.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coll::net::nccl {

struct Settings {
  std::string transport = "tcp";
  std::string iface;            // as COLL_NET_IFACE; empty: choose
  std::optional<Secret> secret; // none: each listener's handle carries one
  int speedMbps = 0;            // 0: the speed that the system reports

  // COLL_NET_TRANSPORT, COLL_NET_IFACE or else NCCL_SOCKET_IFNAME, COLL_SECRET and
  // COLL_NET_SPEED_MBPS. kCollInvalidCall names a wrong value.
  static Result<Settings> fromEnv();
};

// Applies NCCL_SOCKET_IFNAME to these interfaces: prefixes separated by commas, "=" before them for
// exact names, "^" for all others. Returns names, as COLL_NET_IFACE accepts them; kCollDevice if
// none is left.
Result<std::string> ncclInterfaceChoice(std::string_view choice,
                                        const std::vector<Interface> &interfaces);

// From /sys; empty and 0 if it reports nothing, as for virtual devices.
std::string pciPathOf(const std::string &interface);
int speedMbpsOf(const std::string &interface);

} // namespace coll::net::nccl

#endif // COLL_RUNTIME_NET_NCCL_PLUGIN_SETTINGS_H
