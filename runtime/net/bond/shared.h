// shared.h - the state that all connections of a bond share, and the identity of one connection.

#ifndef COLL_RUNTIME_NET_BOND_SHARED_H
#define COLL_RUNTIME_NET_BOND_SHARED_H

#include "runtime/net/bond/bond.h"
#include "runtime/net/bond/keeper.h"

#include <atomic>
#include <vector>

namespace coll::net::bond {

// Outlives the connections.
struct Shared {
  Transport *inner = nullptr;
  BondOptions options;
  std::vector<DeviceProperties> devices;
  std::vector<std::vector<int>> below; // for each device: the inner devices, by rail
  Keeper *keeper = nullptr;
  std::atomic<bool> isHurried{false}; // Transport::hurry() was called
};

// The data that an end of a connection needs to connect one of its links again.
struct Identity {
  Shared *shared = nullptr;
  int device = 0;
  uint64_t id = 0; // the same at both ends
  bool isAcceptor = false;
  size_t rails = 0; // the number of rails of both ends
  int below(size_t rail) const { return shared->below[static_cast<size_t>(device)][rail]; }
  const DeviceProperties &properties() const {
    return shared->devices[static_cast<size_t>(device)];
  }
};

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_SHARED_H
