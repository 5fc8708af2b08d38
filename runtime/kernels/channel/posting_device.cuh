// posting_device.cuh - puts and gets that a kernel posts.
//
//   uint64_t number = putWithSignal(posts, {peer, region, key, from, to, bytes}, signal);
//   …
//   if (waitForPost(posts, number) != rt::PostOutcome::Done) …
//
//   awaitSignal(posts, peer, signal, count);   // at the peer: the data of `count` puts is there
//
// Any thread of any block may call these functions; each call is made by one thread. Use a barrier
// before a thread posts data that other threads have written, and before other threads read data
// that it has waited for. **Proxied**: a thread of the host does the work
// (runtime/net/gpu/posts.h). runtime/base/posting_layout.h has the ring and its rules. No wait is
// longer than PostHandle::timeoutNs, and each wait checks whether the host has ended. Outcomes
// other than Done are also stored in the error word.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_POSTING_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_CHANNEL_POSTING_DEVICE_CUH

#include "runtime/base/posting_layout.h"
#include "runtime/kernels/error_word.h"
#include "runtime/kernels/simt/simt.h"

namespace coll::kernels {

namespace posting {

// Polls until look() returns an outcome; returns `late` after the handle's timeout. Checks
// `stopped` only from time to time, because each check is a read over the bus.
template <class Look>
COLL_DEVICE rt::PostOutcome spin(const rt::PostHandle &posts, rt::PostOutcome late, Look look) {
  constexpr uint32_t kRoundsPerLook = 16;
  const uint64_t start = simt::clockNs();
  rt::PostOutcome found = look();
  for (uint32_t round = 1; found == rt::PostOutcome::None; ++round) {
    simt::pause();
    const bool isStopped =
        round % kRoundsPerLook == 0 && simt::loadAcquire(&posts.shared->stopped) != 0;
    found = look();
    if (found == rt::PostOutcome::None && isStopped)
      found = rt::PostOutcome::Stopped;
    else if (found == rt::PostOutcome::None && simt::clockNs() - start > posts.timeoutNs)
      found = late;
  }
  if (found != rt::PostOutcome::Done && posts.errorWord)
    simt::storeRelease(posts.errorWord, errorWord(KernelError::Post, static_cast<uint32_t>(found)));
  return found;
}

COLL_DEVICE uint64_t outcomeWordOf(const rt::PostHandle &posts, uint64_t number) {
  return simt::loadAcquire(&posts.shared->outcomes[(number - 1) % rt::kPostOutcomes]);
}

COLL_DEVICE void publish(const rt::PostHandle &posts, uint64_t number, rt::PostOp op,
                         const rt::PostPlace &place, uint32_t signal) {
  rt::Post &to = posts.shared->posts[(number - 1) % rt::kPostSlots];
  to.op = op;
  to.signal = signal;
  to.place = place;
  // Release: the host polls `seq`, so the post, and the data that it names, becomes visible first.
  simt::storeRelease(&to.seq, number);
}

// The post's number, or 0 if there was no room for it.
COLL_DEVICE uint64_t post(const rt::PostHandle &posts, rt::PostOp op, const rt::PostPlace &place,
                          uint32_t signal) {
  uint64_t number = 0;
  spin(posts, rt::PostOutcome::Full, [&] {
    const uint64_t before = simt::loadRelaxed(&posts.state->posted);
    const bool isFull = before >= rt::kPostSlots &&
                        rt::numberOfOutcome(outcomeWordOf(posts, before + 1 - rt::kPostSlots)) <
                            before + 1 - rt::kPostSlots;
    if (isFull || !simt::claim(&posts.state->posted, before, before + 1))
      return rt::PostOutcome::None;
    // Stored here, not after the loop: threads of this warp that stay in the loop may wait for this
    // post.
    number = before + 1;
    publish(posts, number, op, place, signal);
    return rt::PostOutcome::Done;
  });
  return number;
}

} // namespace posting

// Writes the bytes of the region to the peer's memory. Returns the post's number, or 0 if the ring
// stayed full or the host has ended; waitForPost() then reports the same.
COLL_DEVICE uint64_t put(const rt::PostHandle &posts, const rt::PostPlace &place) {
  return posting::post(posts, rt::PostOp::Put, place, rt::kNoSignal);
}

// The same, and then the peer's counter `signal` is incremented.
COLL_DEVICE uint64_t putWithSignal(const rt::PostHandle &posts, const rt::PostPlace &place,
                                   uint32_t signal) {
  return posting::post(posts, rt::PostOp::Put, place, signal);
}

// The reverse: reads from the peer's memory into the region.
COLL_DEVICE uint64_t get(const rt::PostHandle &posts, const rt::PostPlace &place) {
  return posting::post(posts, rt::PostOp::Get, place, rt::kNoSignal);
}

// Waits for a post and returns its outcome. Afterwards its memory is free, and data of a get has
// arrived.
COLL_DEVICE rt::PostOutcome waitForPost(const rt::PostHandle &posts, uint64_t number) {
  if (number == 0)
    return simt::loadAcquire(&posts.shared->stopped) ? rt::PostOutcome::Stopped
                                                     : rt::PostOutcome::Full;
  return posting::spin(posts, rt::PostOutcome::Late, [&] {
    const uint64_t word = posting::outcomeWordOf(posts, number);
    if (rt::numberOfOutcome(word) < number)
      return rt::PostOutcome::None;
    return rt::numberOfOutcome(word) == number ? rt::outcomeOf(word) : rt::PostOutcome::Forgotten;
  });
}

// Waits until all posts of the kernel that this thread knows of, by any thread, have ended. If one
// failed, returns the outcome of the first failure since the host last cleared it.
COLL_DEVICE rt::PostOutcome fencePosts(const rt::PostHandle &posts) {
  const uint64_t last = simt::loadRelaxed(&posts.state->posted);
  return posting::spin(posts, rt::PostOutcome::Late, [&] {
    if (simt::loadAcquire(&posts.shared->ended) < last)
      return rt::PostOutcome::None;
    const uint64_t failure = simt::loadRelaxed(&posts.shared->failure);
    return failure ? rt::outcomeOf(failure) : rt::PostOutcome::Done;
  });
}

// Waits until the counter is at least `count`. Ends early if the connection to `peer`, which
// increments the counter, ends.
COLL_DEVICE rt::PostOutcome awaitSignal(const rt::PostHandle &posts, uint32_t peer, uint32_t signal,
                                        uint64_t count) {
  return posting::spin(posts, rt::PostOutcome::Late, [&] {
    if (signal >= rt::kPostSignals)
      return rt::PostOutcome::BadSignal;
    if (peer >= rt::kPostPeers)
      return rt::PostOutcome::BadPeer;
    const auto ended = static_cast<rt::PostOutcome>(simt::loadAcquire(&posts.shared->peers[peer]));
    return simt::loadAcquire(&posts.shared->signals[signal]) >= count ? rt::PostOutcome::Done
                                                                      : ended;
  });
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_CHANNEL_POSTING_DEVICE_CUH
