#include "runtime/backend/threads/group.h"

#include "runtime/backend/call/signature.h"

#include <algorithm>
#include <cstring>
#include <sched.h>

namespace coll::rt::threads {

namespace {

// In groups of up to this many members, each reads all others' postings. In larger groups, or if
// ranks share cores, it is cheaper if only the last member to arrive reads them.
constexpr int kSmallGroup = 64;
constexpr int kSmallGroupInTurns = 4;

// Whether the result depends on the member's source.
bool gives(const Call &call, int position) {
  switch (call.kind) {
  case OpKind::Broadcast:
  case OpKind::Scatter:
    return call.root == position;
  default:
    return true;
  }
}

} // namespace

Group::Group(World &world, std::vector<int> ranks)
    : world_(world), ranks_(std::move(ranks)),
      hasSmall_(size() <= (world.coreForEachRank() ? kSmallGroup : kSmallGroupInTurns)),
      postings_(kSlots * ranks_.size(), hasSmall_ ? kInlineBytes : 0), members_(ranks_.size()),
      mailboxes_(ranks_.size()) {
  for (Slot &slot : slots_)
    slot.create(size(), std::min(size(), world.numCores()));
}

bool Group::isSmall(const Call &call) const {
  return hasSmall_ && !isTransfer(call.kind) && digestTellsAll(call.kind) &&
         sourceBytes(call, size()) <= kInlineBytes;
}

bool Group::isFree(uint64_t number, int position) {
  Member &mine = members_[static_cast<size_t>(position)];
  if (number < mine.completedByAll + kSlots)
    return true;
  uint64_t all = number;
  for (const Member &member : members_)
    all = std::min(all, member.completed.load(std::memory_order_acquire));
  mine.completedByAll = all;
  return number < all + kSlots;
}

void Group::write(uint64_t number, int position, const Call &call, bool small) {
  Posting &posting = this->posting(number, position);
  posting.digest = digestOf(call);
  posting.call = call;
  if (!digestTellsAll(call.kind))
    posting.signature = signatureOf(call);
  if (!small) {
    Buffers buffers{call.src, call.dst};
    std::memcpy(posting.payload(), &buffers, sizeof(buffers));
  } else if (int64_t bytes = sourceBytes(call, size()); bytes > 0 && gives(call, position)) {
    std::memcpy(posting.payload(), call.src, static_cast<size_t>(bytes));
  }
  posting.number.store(number + 1, std::memory_order_release);
}

bool Group::post(uint64_t number, int position, const Call &call, bool small) {
  if (!isFree(number, position)) {
    // Checked again after the announcement: release() reads deferred_ after freeing the place.
    deferred_.fetch_add(1, std::memory_order_relaxed);
    Parker::fence();
    if (!isFree(number, position))
      return false;
  }
  write(number, position, call, small);
  if (!small && slot(number).arrive(position))
    allArrived(number, position);
  return true;
}

SlotState Group::advanceSmall(uint64_t number, int position, const Call &call, int &seen) {
  if (!allPosted(number, seen))
    return SlotState::Open;
  if (!allAgree(number)) {
    failIfMismatched(number);
    return slot(number).state(number);
  }
  constexpr int kFew = 8;
  Buffers few[kFew];
  std::vector<Buffers> many(size() > kFew ? ranks_.size() : 0);
  Buffers *members = size() > kFew ? many.data() : few;
  for (int i = 0; i < size(); ++i)
    members[i].src = posting(number, i).payload();
  members[position].dst = call.dst;
  runWork(call, members, size());
  release(number, position);
  // Wakes members that slept when the last posting was written: this member has seen the posting.
  for (int i = 0; i < size(); ++i)
    if (i != position)
      world_.rank(ranks_[static_cast<size_t>(i)]).parker.unparkFenced();
  return SlotState::Done;
}

SlotState Group::advanceLarge(uint64_t number, int position) {
  Slot &slot = this->slot(number);
  SlotState state = slot.state(number);
  if (state == SlotState::Running) {
    if (slot.help(position)) {
      slot.setState(number, SlotState::Done);
      wakeMembers(position);
    }
    state = slot.state(number);
  }
  if (state == SlotState::Done)
    release(number, position);
  return state;
}

void Group::allArrived(uint64_t number, int position) {
  Slot &slot = this->slot(number);
  if (!slot.leaveOpen(number, SlotState::Preparing))
    return; // a member gave up
  if (!allAgree(number))
    if (Status failure = compareCalls(number); !failure.ok())
      return failAll(number, failure);
  Work &work = slot.work();
  work.call = posting(number, position).call;
  for (int i = 0; i < size(); ++i)
    std::memcpy(&work.members[static_cast<size_t>(i)], posting(number, i).payload(),
                sizeof(Buffers));
  slot.deal();
  bool alone = work.numChunks <= 1;
  if (alone && work.numChunks == 1)
    slot.help(position);
  slot.setState(number, alone ? SlotState::Done : SlotState::Running);
  wakeMembers(position);
}

bool Group::failIfMismatched(uint64_t number) {
  int seen = 0;
  if (slot(number).state(number) != SlotState::Open || !allPosted(number, seen) ||
      allAgree(number) || !slot(number).leaveOpen(number, SlotState::Preparing))
    return false;
  failAll(number, compareCalls(number));
  return true;
}

void Group::failAll(uint64_t number, const Status &failure) {
  Slot &slot = this->slot(number);
  slot.failure() = failure;
  slot.setState(number, SlotState::Failed);
  world_.abort(failure);
}

void Group::release(uint64_t number, int position) {
  Member &mine = members_[static_cast<size_t>(position)];
  uint64_t completed = mine.completed.load(std::memory_order_relaxed);
  mine.ahead |= uint64_t(1) << (number - completed);
  for (; mine.ahead & 1; mine.ahead >>= 1)
    ++completed;
  mine.completed.store(completed, std::memory_order_release);
  Parker::fence();
  if (deferred_.load(std::memory_order_relaxed) > 0) {
    deferred_.store(0, std::memory_order_relaxed);
    wakeMembers(position);
  }
}

void Group::cancel(uint64_t number, int position, bool small) {
  Slot &slot = this->slot(number);
  if (small || slot.leaveOpen(number, SlotState::Dead))
    return;
  while (true) {
    SlotState state = slot.state(number);
    if (state == SlotState::Running && slot.help(position)) {
      slot.setState(number, SlotState::Done);
      wakeMembers(position);
    }
    if (state != SlotState::Running && state != SlotState::Preparing)
      return;
    sched_yield();
  }
}

int Group::missingMember(uint64_t number) {
  for (int i = 0; i < size(); ++i) {
    // In this order, because a rank posts before it leaves.
    bool present =
        world_.rank(ranks_[static_cast<size_t>(i)]).present.load(std::memory_order_acquire);
    if (!present && posting(number, i).number.load(std::memory_order_acquire) != number + 1)
      return i;
  }
  return -1;
}

std::vector<int> Group::lateMembers(uint64_t number) {
  std::vector<int> late;
  for (int i = 0; i < size(); ++i)
    if (posting(number, i).number.load(std::memory_order_acquire) != number + 1)
      late.push_back(i);
  return late;
}

bool Group::allPosted(uint64_t number, int &seen) {
  for (; seen < size(); ++seen)
    if (posting(number, seen).number.load(std::memory_order_acquire) != number + 1)
      return false;
  return true;
}

bool Group::allAgree(uint64_t number) {
  const CallDigest &first = posting(number, 0).digest;
  if (!digestTellsAll(static_cast<OpKind>(first.kind)))
    return compareCalls(number).ok();
  for (int i = 1; i < size(); ++i)
    if (!agree(first, posting(number, i).digest))
      return false;
  return true;
}

Status Group::compareCalls(uint64_t number) {
  auto signature = [&](int position) {
    const Posting &posting = this->posting(number, position);
    return digestTellsAll(posting.call.kind) ? signatureOf(posting.call) : posting.signature;
  };
  const Call &first = posting(number, 0).call;
  CallSignature expected = signature(0);
  for (int i = 1; i < size(); ++i) {
    const Call &call = posting(number, i).call;
    if (const char *what = difference(expected, signature(i)))
      return {kCollMismatch, std::string(what) + " differ in call " + std::to_string(number) +
                                 " of group " + describeGroup(ranks_) + ": rank " +
                                 std::to_string(ranks_[0]) + " calls " + describe(first) +
                                 ", rank " + std::to_string(ranks_[static_cast<size_t>(i)]) +
                                 " calls " + describe(call)};
  }
  return {};
}

void Group::wakeMembers(int except) {
  Parker::fence();
  for (int i = 0; i < size(); ++i)
    if (i != except)
      world_.rank(ranks_[static_cast<size_t>(i)]).parker.unparkFenced();
}

} // namespace coll::rt::threads
