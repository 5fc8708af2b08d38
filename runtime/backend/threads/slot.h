// slot.h - a collective that its members carry out together.
//
//   Open       members post their calls
//   Preparing  one member compares the calls; from now on no member gives up
//   Running    all agree: any member that waits does chunks of the work
//   Done       every destination is written
//   Failed     the members disagree; `failure` says how
//   Dead       a member gave up while the slot was Open: nothing will happen
//
// The state is kept with the number of the operation that it is of: for any later
// operation, the slot is Open.

#ifndef COLL_RUNTIME_BACKEND_THREADS_SLOT_H
#define COLL_RUNTIME_BACKEND_THREADS_SLOT_H

#include "runtime/backend/threads/work.h"

#include <atomic>
#include <memory>

namespace coll::rt::threads {

enum class SlotState : uint32_t { Open, Preparing, Running, Done, Failed, Dead };

// A number in a cache line of its own.
struct alignas(64) Counter {
  std::atomic<int64_t> value{0};
};

class Slot {
public:
  // For a group of `members`, of whom `workers` at most run at the same time. Only where
  // all do is the work cut up so that each has a part of it.
  void create(int members, int workers);

  SlotState state(uint64_t number) const {
    return stateIn(word_.load(std::memory_order_acquire), number);
  }
  // Changes the state from Open; false where another member was first.
  bool leaveOpen(uint64_t number, SlotState to);
  void setState(uint64_t number, SlotState to);

  // Counts a member in; true for the last one. It comes after all others' postings.
  bool arrive(int position);

  // What follows is the member's that made the slot Preparing.
  Work &work() { return work_; }
  Status &failure() { return failure_; }
  // Hands out the work, which has been set, from the beginning.
  void deal();

  // Does chunks until none is left to take, one's own share first. True for the one that
  // has done the last of all. The state must have been Running.
  bool help(int position);

private:
  static SlotState stateIn(uint64_t word, uint64_t number) {
    return word / kStates == number ? static_cast<SlotState>(word % kStates) : SlotState::Open;
  }

  static constexpr uint64_t kStates = 8;
  // Members that count themselves in at the same counter, so that few cores at a time
  // want the same cache line.
  static constexpr int kLeafSize = 8;

  alignas(64) std::atomic<uint64_t> word_{0};
  int members_ = 0;
  int workers_ = 0;
  int shares_ = 0; // of the work under way
  std::unique_ptr<Counter[]> leaves_;
  std::unique_ptr<Counter[]> taken_; // chunks, by share
  Counter arrivedLeaves_;
  Counter done_; // chunks
  Work work_;
  Status failure_;
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_SLOT_H
