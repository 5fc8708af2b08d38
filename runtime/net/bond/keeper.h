// keeper.h - moves on what nobody tests.

#ifndef COLL_RUNTIME_NET_BOND_KEEPER_H
#define COLL_RUNTIME_NET_BOND_KEEPER_H

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace coll::net::bond {

class Kept {
public:
  virtual ~Kept() = default;
  // Every millisecond or so, from the keeper's thread. False: never again.
  virtual bool tick() = 0;
};

// One thread, asleep while there is nothing to keep.
class Keeper {
public:
  Keeper() : thread_([this] { run(); }) {}
  // Waits until nothing is kept any more.
  ~Keeper();
  // Shares in it as long as it ticks. Never with a lock that tick() takes.
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
