#include "runtime/backend/threads/group.h"

#include "runtime/call_signature.h"

#include <algorithm>
#include <sched.h>

namespace coll::rt::threads {

Group::Group(World &world, std::vector<int> ranks)
    : world_(world), ranks_(std::move(ranks)), counters_(ranks_.size()), mailboxes_(ranks_.size()) {
  for (uint64_t i = 0; i < kSlots; ++i) {
    slots_[i].number.store(i);
    slots_[i].postings = std::make_unique<Posting[]>(ranks_.size());
    slots_[i].work.calls.resize(ranks_.size());
  }
}

bool Group::post(uint64_t number, int position, const Call &call) {
  Slot &slot = this->slot(number);
  if (slot.number.load(std::memory_order_acquire) != number) {
    // Looked at again after the announcement: release() reads it after freeing.
    deferred_.fetch_add(1, std::memory_order_seq_cst);
    if (slot.number.load(std::memory_order_seq_cst) != number)
      return false;
  }
  Posting &posting = slot.postings[static_cast<size_t>(position)];
  posting.call = call;
  posting.number.store(number + 1, std::memory_order_release);
  if (slot.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == size())
    allArrived(slot, number, position);
  return true;
}

void Group::allArrived(Slot &slot, uint64_t number, int position) {
  SlotState expected = SlotState::Open;
  if (!slot.state.compare_exchange_strong(expected, SlotState::Preparing))
    return; // a member gave up
  slot.failure = compareCalls(slot, number);
  if (!slot.failure.ok()) {
    Status failure = slot.failure;
    slot.state.store(SlotState::Failed, std::memory_order_seq_cst);
    wakeMembers(position);
    world_.abort(failure);
    return;
  }
  for (size_t i = 0; i < ranks_.size(); ++i)
    slot.work.calls[i] = slot.postings[i].call;
  slot.work.prepare();
  slot.nextChunk.store(0, std::memory_order_relaxed);
  slot.chunksDone.store(0, std::memory_order_relaxed);
  if (slot.work.numChunks > 1) {
    slot.state.store(SlotState::Running, std::memory_order_seq_cst);
    return wakeMembers(position);
  }
  if (slot.work.numChunks == 1)
    slot.work.run(0);
  slot.state.store(SlotState::Done, std::memory_order_seq_cst);
  wakeMembers(position);
}

void Group::help(Slot &slot, int position) {
  while (true) {
    int64_t chunk = slot.nextChunk.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= slot.work.numChunks)
      return;
    slot.work.run(chunk);
    if (slot.chunksDone.fetch_add(1, std::memory_order_acq_rel) + 1 == slot.work.numChunks) {
      slot.state.store(SlotState::Done, std::memory_order_seq_cst);
      wakeMembers(position);
    }
  }
}

void Group::release(uint64_t number) {
  Slot &slot = this->slot(number);
  if (slot.seen.fetch_add(1, std::memory_order_acq_rel) + 1 != size())
    return;
  slot.work.reset();
  slot.arrived.store(0, std::memory_order_relaxed);
  slot.seen.store(0, std::memory_order_relaxed);
  slot.state.store(SlotState::Open, std::memory_order_relaxed);
  slot.number.store(number + kSlots, std::memory_order_seq_cst);
  if (deferred_.load(std::memory_order_seq_cst) > 0) {
    deferred_.store(0, std::memory_order_seq_cst);
    wakeMembers(-1);
  }
}

void Group::cancel(uint64_t number, int position) {
  Slot &slot = this->slot(number);
  SlotState expected = SlotState::Open;
  if (slot.state.compare_exchange_strong(expected, SlotState::Dead))
    return;
  while (true) {
    SlotState state = slot.state.load(std::memory_order_acquire);
    if (state == SlotState::Running)
      help(slot, position);
    else if (state != SlotState::Preparing)
      return;
    sched_yield();
  }
}

int Group::missingMember(uint64_t number) {
  Slot &slot = this->slot(number);
  for (int i = 0; i < size(); ++i) {
    // In this order: a rank posts before it leaves.
    bool present =
        world_.rank(ranks_[static_cast<size_t>(i)]).present.load(std::memory_order_acquire);
    Posting &posting = slot.postings[static_cast<size_t>(i)];
    if (!present && posting.number.load(std::memory_order_acquire) != number + 1)
      return i;
  }
  return -1;
}

std::vector<int> Group::lateMembers(uint64_t number) {
  std::vector<int> late;
  Slot &slot = this->slot(number);
  for (int i = 0; i < size(); ++i)
    if (slot.postings[static_cast<size_t>(i)].number.load(std::memory_order_acquire) != number + 1)
      late.push_back(i);
  return late;
}

Status Group::compareCalls(const Slot &slot, uint64_t number) const {
  const Call &first = slot.postings[0].call;
  CallSignature expected = signatureOf(first);
  for (int i = 1; i < size(); ++i) {
    const Call &call = slot.postings[static_cast<size_t>(i)].call;
    if (const char *what = difference(expected, signatureOf(call)))
      return {kCollMismatch, std::string(what) + " differ in call " + std::to_string(number) +
                                 " of group " + describeGroup(ranks_) + ": rank " +
                                 std::to_string(ranks_[0]) + " calls " + describe(first) +
                                 ", rank " + std::to_string(ranks_[static_cast<size_t>(i)]) +
                                 " calls " + describe(call)};
  }
  return {};
}

void Group::wakeMembers(int except) {
  for (int i = 0; i < size(); ++i)
    if (i != except)
      world_.rank(ranks_[static_cast<size_t>(i)]).parker.unpark();
}

} // namespace coll::rt::threads
