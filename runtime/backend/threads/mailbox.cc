#include "runtime/backend/threads/mailbox.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::threads {

namespace {

// Moves the data between two matched sides, or says why they do not fit.
Status exchange(const Transfer &send, const Transfer &recv) {
  const Call &from = send.call, &to = recv.call;
  if (from.dtype != to.dtype || from.count != to.count)
    return {kCollMismatch, "rank " + std::to_string(send.rank) + " calls " + describe(from) +
                               ", rank " + std::to_string(recv.rank) + " calls " + describe(to) +
                               ": element types or counts differ"};
  if (from.count > 0 && from.src != to.dst)
    std::memcpy(to.dst, from.src, static_cast<size_t>(from.count * dtypeSize(from.dtype)));
  return {};
}

void complete(World &world, Transfer &transfer, const Status &outcome) {
  int rank = transfer.rank;
  transfer.failure = outcome;
  // The owner may free the transfer as soon as it sees the state.
  transfer.state.store(outcome.ok() ? Transfer::State::Done : Transfer::State::Failed,
                       std::memory_order_seq_cst);
  world.rank(rank).parker.unpark();
}

} // namespace

void Mailbox::post(World &world, Transfer &mine) {
  bool isSend = mine.call.kind == OpKind::Send;
  Transfer *other = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::deque<Transfer *> &queue = queueOf(isSend ? OpKind::Recv : OpKind::Send);
    auto it = std::find_if(queue.begin(), queue.end(), [&](const Transfer *candidate) {
      return candidate->sender == mine.sender && candidate->call.tag == mine.call.tag;
    });
    if (it == queue.end()) {
      queueOf(mine.call.kind).push_back(&mine);
      return;
    }
    other = *it;
    queue.erase(it);
  }
  Status outcome = isSend ? exchange(mine, *other) : exchange(*other, mine);
  complete(world, *other, outcome);
  complete(world, mine, outcome);
  if (!outcome.ok())
    world.abort(outcome);
}

bool Mailbox::withdraw(Transfer &mine) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::deque<Transfer *> &queue = queueOf(mine.call.kind);
  auto it = std::find(queue.begin(), queue.end(), &mine);
  if (it == queue.end())
    return false;
  queue.erase(it);
  return true;
}

} // namespace coll::rt::threads
