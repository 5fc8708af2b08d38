// listener.h - links that become a connection; frame.h has the messages.

#ifndef COLL_RUNTIME_NET_BOND_LISTENER_H
#define COLL_RUNTIME_NET_BOND_LISTENER_H

#include "runtime/net/bond/bond.h"
#include "runtime/net/bond/keeper.h"

#include <memory>
#include <vector>

namespace coll::net::bond {

struct Shared {
  Transport *inner = nullptr;
  BondOptions options;
  std::vector<DeviceProperties> devices;
  std::vector<std::vector<int>> below; // for each of them: the inner devices, by rail
  Keeper *keeper = nullptr;
};

// `shared` outlives them. They work in the thread that calls accept() or poll().
Result<std::unique_ptr<Listener>> makeListener(Shared &shared, int device);
Result<std::unique_ptr<Connector>> makeConnector(Shared &shared, int device, const Handle &handle);

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_LISTENER_H
