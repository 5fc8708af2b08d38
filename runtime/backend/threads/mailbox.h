// mailbox.h - sends and receives that wait for a match.

#ifndef COLL_RUNTIME_BACKEND_THREADS_MAILBOX_H
#define COLL_RUNTIME_BACKEND_THREADS_MAILBOX_H

#include "runtime/backend/threads/world.h"

#include <atomic>
#include <deque>
#include <mutex>

namespace coll::rt::threads {

// One side of a point-to-point transfer. Its rank may reuse it once `state` is Done or Failed, or
// once Mailbox::withdraw has succeeded.
struct Transfer {
  enum class State : uint32_t { Waiting, Moving, Done, Failed };

  Call call;
  int sender = 0; // positions in the group
  int rank = 0;   // global rank of this side
  Status failure; // if Failed
  std::atomic<State> state{State::Waiting};

  bool isComplete() const { return state.load(std::memory_order_acquire) >= State::Done; }

  // While Moving: the side that was posted second copies, and this side may copy parts too, until
  // all are taken.
  void help();
  const char *from = nullptr;
  char *to = nullptr;
  int64_t bytes = 0;
  alignas(64) std::atomic<int64_t> taken{0}; // bytes
  alignas(64) std::atomic<int64_t> moved{0};
};

// The transfers to one member of a group. Transfers with the same sender and tag
// match in the order in which they were posted.
class Mailbox {
public:
  // Matches `mine` with the other side if that was posted; then the data is moved and both sides
  // are complete. Any thread may call it.
  void post(World &world, Transfer &mine);

  // Withdraws `mine`. False if it was matched; it will then be complete soon, sooner with help() if
  // it is Moving.
  bool withdraw(Transfer &mine);

private:
  std::deque<Transfer *> &queueOf(OpKind kind) { return kind == OpKind::Send ? sends_ : recvs_; }

  std::mutex mutex_;
  std::deque<Transfer *> sends_;
  std::deque<Transfer *> recvs_;
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_MAILBOX_H
