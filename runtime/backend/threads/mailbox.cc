#include "runtime/backend/threads/mailbox.h"

#include "runtime/base/dtype.h"
#include "runtime/base/machine.h"
#include "runtime/base/stream_copy.h"

#include <algorithm>
#include <cstring>
#include <sched.h>

namespace coll::rt::threads {

namespace {

// Transfers of this size and more are copied by both sides, in parts of this size.
constexpr int64_t kSharedBytes = 512 * 1024;
constexpr int64_t kPartBytes = 128 * 1024;

// Says how two matched sides differ.
Status compare(const Transfer &send, const Transfer &recv) {
  const Call &from = send.call, &to = recv.call;
  if (from.dtype == to.dtype && from.count == to.count)
    return {};
  return {kCollMismatch, "rank " + std::to_string(send.rank) + " calls " + describe(from) +
                             ", rank " + std::to_string(recv.rank) + " calls " + describe(to) +
                             ": element types or counts differ"};
}

// Moves the data; `waiting` is the side that was posted first.
void move(World &world, const Call &send, const Call &recv, Transfer &waiting) {
  int64_t bytes = send.count * dtypeSize(send.dtype);
  if (bytes == 0 || send.src == recv.dst)
    return;
  if (bytes < kSharedBytes) {
    std::memcpy(recv.dst, send.src, static_cast<size_t>(bytes));
    return;
  }
  waiting.from = static_cast<const char *>(send.src);
  waiting.to = static_cast<char *>(recv.dst);
  waiting.bytes = bytes;
  waiting.state.store(Transfer::State::Moving, std::memory_order_release);
  world.rank(waiting.rank).parker.unpark();
  waiting.help();
  // If the other side has taken the last part, wait until it is copied, which is soon.
  while (waiting.moved.load(std::memory_order_acquire) < bytes)
    sched_yield();
}

// The owner may free the transfer as soon as it sees the state.
void complete(Transfer &transfer, const Status &outcome) {
  transfer.failure = outcome;
  transfer.state.store(outcome.ok() ? Transfer::State::Done : Transfer::State::Failed,
                       std::memory_order_release);
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
  const Transfer &send = isSend ? mine : *other, &recv = isSend ? *other : mine;
  Status outcome = compare(send, recv);
  if (outcome.ok())
    move(world, send.call, recv.call, *other);
  int otherRank = other->rank;
  complete(*other, outcome);
  world.rank(otherRank).parker.unpark();
  complete(mine, outcome);
  if (!outcome.ok())
    world.abort(outcome);
}

void Transfer::help() {
  bool streams = 2 * bytes > cacheBytes();
  while (taken.load(std::memory_order_relaxed) < bytes) {
    int64_t begin = taken.fetch_add(kPartBytes, std::memory_order_relaxed);
    if (begin >= bytes)
      return;
    int64_t length = std::min(kPartBytes, bytes - begin);
    if (streams) {
      streamCopy(to + begin, from + begin, length);
      endStream();
    } else {
      std::memcpy(to + begin, from + begin, static_cast<size_t>(length));
    }
    moved.fetch_add(length, std::memory_order_acq_rel);
  }
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
