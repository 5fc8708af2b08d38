// slot.h - a collective on which its members work together.
//
//   Open       members post their calls
//   Preparing  one member compares the calls; from now on no member gives up
//   Running    all agree: any member that waits does chunks of the work
//   Done       every destination is written
//   Failed     the members disagree; `failure` says how
//   Dead       a member gave up while the slot was Open: nothing will happen
//
// The state is stored with the number of its operation: for any later operation the slot is
// Open.

#ifndef COLL_RUNTIME_BACKEND_THREADS_SLOT_H
#define COLL_RUNTIME_BACKEND_THREADS_SLOT_H

#include "runtime/backend/threads/work.h"

#include <atomic>
#include <memory>

namespace coll::rt::threads {

enum class SlotState : uint32_t { Open, Preparing, Running, Done, Failed, Dead };

// A number in its own cache line.
struct alignas(64) Counter {
  std::atomic<int64_t> value{0};
};

class Slot {
public:
  // For a group of `members`, of which at most `workers` run at the same time. The work is divided
  // into shares only if all of them run.
  void create(int members, int workers);

  SlotState state(uint64_t number) const {
    return stateIn(word_.load(std::memory_order_acquire), number);
  }
  // Changes the state from Open; false if another member did so first.
  bool leaveOpen(uint64_t number, SlotState to);
  void setState(uint64_t number, SlotState to);

  // Counts a member in; true for the last member, which sees the postings of all others.
  bool arrive(int position);

  // Only for the member that made the slot Preparing.
  Work &work() { return work_; }
  Status &failure() { return failure_; }
  // Offers the work, which must be set, from its beginning.
  void deal();

  // Does chunks until none is left to take, this member's share first. True for the member that has
  // done the last chunk of all. The state must have been Running.
  bool help(int position);

private:
  static SlotState stateIn(uint64_t word, uint64_t number) {
    return word / kStates == number ? static_cast<SlotState>(word % kStates) : SlotState::Open;
  }

  static constexpr uint64_t kStates = 8;
  // Number of members that share one counter of arrivals, so that few cores compete for a cache
  // line.
  static constexpr int kLeafSize = 8;

  alignas(64) std::atomic<uint64_t> word_{0};
  int members_ = 0;
  int workers_ = 0;
  int shares_ = 0; // of the current work
  std::unique_ptr<Counter[]> leaves_;
  std::unique_ptr<Counter[]> taken_; // chunks, by share
  Counter arrivedLeaves_;
  Counter done_; // chunks
  Work work_;
  Status failure_;
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_SLOT_H
