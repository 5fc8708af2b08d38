// group.h - a group of ranks and the collectives that they have under way.
//
// The k-th collective that a member starts on a group is matched with the k-th of
// every other member. It lives in slot k mod kSlots:
//
//   Open       members post their calls
//   Preparing  the last to arrive compares the calls; from now on no member gives up
//   Running    all agree: any member that waits does chunks of the work
//   Done       every destination is written
//   Failed     the members disagree; `failure` says how
//   Dead       a member gave up while the slot was Open: nothing will happen
//
// When every member has seen Done, the slot is Open again, for operation k + kSlots.

#ifndef COLL_RUNTIME_BACKEND_THREADS_GROUP_H
#define COLL_RUNTIME_BACKEND_THREADS_GROUP_H

#include "runtime/backend/threads/mailbox.h"
#include "runtime/backend/threads/work.h"
#include "runtime/backend/threads/world.h"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace coll::rt::threads {

enum class SlotState : uint32_t { Open, Preparing, Running, Done, Failed, Dead };

// A member's call. `number` is the operation's number plus one, once it is posted.
struct alignas(64) Posting {
  Call call;
  std::atomic<uint64_t> number{0};
};

struct Slot {
  // The operation number that may be posted here.
  alignas(64) std::atomic<uint64_t> number{0};
  alignas(64) std::atomic<SlotState> state{SlotState::Open};
  alignas(64) std::atomic<int> arrived{0};
  std::atomic<int> seen{0};
  alignas(64) std::atomic<int64_t> nextChunk{0};
  alignas(64) std::atomic<int64_t> chunksDone{0};
  // Written while Preparing, by the last to arrive.
  Work work;
  Status failure;
  std::unique_ptr<Posting[]> postings;
};

class Group {
public:
  Group(World &world, std::vector<int> ranks);

  const std::vector<int> &ranks() const { return ranks_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  Slot &slot(uint64_t number) { return slots_[number % kSlots]; }
  // Number of the member's next collective. The member's thread only.
  uint64_t takeNumber(int position) { return counters_[static_cast<size_t>(position)].next++; }
  Mailbox &mailbox(int receiver) { return mailboxes_[static_cast<size_t>(receiver)]; }

  // Posts the member's call as operation `number`. False: the slot still serves an
  // earlier operation; the member is woken when it is free. Does not block; the last
  // to arrive does small work itself.
  bool post(uint64_t number, int position, const Call &call);
  // Does chunks until none is left. The state must have been Running.
  void help(Slot &slot, int position);
  // To be called once by each member that has seen the operation Done.
  void release(uint64_t number);
  // Gives up operation `number`, which the member has posted. Afterwards no one
  // touches the member's buffers.
  void cancel(uint64_t number, int position);

  // A member that has not posted operation `number` and has left, or -1; positions.
  int missingMember(uint64_t number);
  // Members that have not posted it.
  std::vector<int> lateMembers(uint64_t number);

private:
  static constexpr uint64_t kSlots = 16;

  struct alignas(64) Counter {
    uint64_t next = 0;
  };

  void allArrived(Slot &slot, uint64_t number, int position);
  Status compareCalls(const Slot &slot, uint64_t number) const;
  void wakeMembers(int except);

  World &world_;
  std::vector<int> ranks_;
  std::array<Slot, kSlots> slots_;
  std::vector<Counter> counters_;  // by member
  std::vector<Mailbox> mailboxes_; // by receiver
  // Members that found a slot taken and have not posted yet.
  std::atomic<int> deferred_{0};
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_GROUP_H
