// keeper.h - moves on what nobody tests.

#ifndef COLL_RUNTIME_NET_BOND_KEEPER_H
#define COLL_RUNTIME_NET_BOND_KEEPER_H

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace coll::net::bond {

class Kept {
public:
  virtual ~Kept() = default;
  // Every millisecond or so, from the keeper's thread.
  virtual void tick() = 0;
};

// One thread, asleep while there is nothing to keep.
class Keeper {
public:
  Keeper() : thread_([this] { run(); }) {}
  ~Keeper();
  void add(Kept *kept);
  // Afterwards it is not called any more. Never from tick(), never with a lock that tick() takes.
  void remove(Kept *kept);

private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::set<Kept *> all_;
  std::thread thread_; // last
};

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_KEEPER_H
