// group.h - a group of ranks and its collectives in flight.
//
// The k-th collective that a member starts on a group is matched with the k-th of every other
// member: each member writes a posting into place k mod kSlots of the ring. The call alone decides
// how the operation continues (isSmall):
//
//   small  the data is in the postings. Each member waits for all of them, compares
//          them, and computes its own result. No member accesses another's buffers.
//   large  the last to arrive compares the postings; then all members work together,
//          in a Slot, directly from source to destination.
//
// If members differ even in whether the call is small, they find out from the postings.
//
// A member may post operation k + kSlots once every member has completed operation k.

#ifndef COLL_RUNTIME_BACKEND_THREADS_GROUP_H
#define COLL_RUNTIME_BACKEND_THREADS_GROUP_H

#include "runtime/backend/threads/mailbox.h"
#include "runtime/backend/threads/posting.h"
#include "runtime/backend/threads/slot.h"
#include "runtime/backend/threads/world.h"

#include <array>
#include <atomic>
#include <vector>

namespace coll::rt::threads {

class Group {
public:
  Group(World &world, std::vector<int> ranks);

  const std::vector<int> &ranks() const { return ranks_; }
  int size() const { return static_cast<int>(ranks_.size()); }
  Slot &slot(uint64_t number) { return slots_[number % kSlots]; }
  // Number of the member's next collective. Called by the member's thread only.
  uint64_t takeNumber(int position) { return members_[static_cast<size_t>(position)].next++; }
  Mailbox &mailbox(int receiver) { return mailboxes_[static_cast<size_t>(receiver)]; }

  bool isSmall(const Call &call) const;

  // Posts the member's call as operation `number`. False if an earlier operation still uses the
  // ring's place; the member is woken when the place is free. Does not block. The last member to
  // arrive at a large operation of one chunk executes it.
  bool post(uint64_t number, int position, const Call &call, bool small);

  // Advances a small operation that the member has posted. `seen` is 0 at first; it counts the
  // members that are known to have posted.
  SlotState advanceSmall(uint64_t number, int position, const Call &call, int &seen);
  // Advances a large operation: does chunks until none is left.
  SlotState advanceLarge(uint64_t number, int position);

  // Whether the members' calls differ; fails them in that case. For a member that is about to
  // sleep: a member that takes the call for a small one does not count itself in, so the others
  // would wait.
  bool failIfMismatched(uint64_t number);

  // Called once by each member that has seen the operation Done.
  void release(uint64_t number, int position);
  // Withdraws operation `number`, which the member has posted. Afterwards no thread uses the
  // member's buffers.
  void cancel(uint64_t number, int position, bool small);

  // A member that has not posted operation `number` and has left, or -1; positions.
  int missingMember(uint64_t number);
  // Members that have not posted it.
  std::vector<int> lateMembers(uint64_t number);

private:
  static constexpr uint64_t kSlots = 16;

  // A member's record of its own operations; the others read `completed`.
  struct alignas(64) Member {
    std::atomic<uint64_t> completed{0}; // all operations below this number are completed
    uint64_t next = 0;
    uint64_t completedByAll = 0; // as far as it knows
    uint64_t ahead = 0;          // bit i: operation completed + i is completed, too
  };

  Posting &posting(uint64_t number, int position) {
    return postings_[number % kSlots * ranks_.size() + static_cast<size_t>(position)];
  }
  bool isFree(uint64_t number, int position);
  void write(uint64_t number, int position, const Call &call, bool small);
  void allArrived(uint64_t number, int position);
  // Fails the operation on all members.
  void failAll(uint64_t number, const Status &failure);
  bool allPosted(uint64_t number, int &seen);
  bool allAgree(uint64_t number);
  Status compareCalls(uint64_t number);
  void wakeMembers(int except);

  World &world_;
  std::vector<int> ranks_;
  bool hasSmall_;
  std::array<Slot, kSlots> slots_;
  PostingRing postings_; // kSlots × members
  std::vector<Member> members_;
  std::vector<Mailbox> mailboxes_; // by receiver
  // The number of members whose posting found no place and that may be asleep.
  std::atomic<int> deferred_{0};
};

} // namespace coll::rt::threads

#endif // COLL_RUNTIME_BACKEND_THREADS_GROUP_H
