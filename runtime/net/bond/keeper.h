// keeper.h - progresses connections that no thread tests.

#ifndef COLL_RUNTIME_NET_BOND_KEEPER_H
#define COLL_RUNTIME_NET_BOND_KEEPER_H

#include "runtime/net/transport.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::net::bond {

class Kept {
public:
  virtual ~Kept() = default;
  // Called about every millisecond on the keeper's thread. False: do not call it again.
  virtual bool tick() = 0;
};

// One thread, which sleeps while no connection is kept.
class Keeper {
public:
  Keeper() = default;
  // Waits until no connection is kept any more.
  ~Keeper();
  // Call it once, before anything is added.
  Status start();
  // Keeps the connection, and shares its ownership, as long as tick() returns true. The caller must
  // not hold a lock that tick() takes.
  void add(std::shared_ptr<Kept> kept);

private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::vector<std::shared_ptr<Kept>> all_;
  std::thread thread_; // last
};

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_KEEPER_H
