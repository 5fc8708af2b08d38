// posting_layout.h - what a kernel and the host share when the kernel asks for transfers itself.
//
// Threads of a kernel put posts into a ring; the host takes them out, checks every field, does
// them over the network, and says how each one ended:
//
//   PostShared  pinned host memory that the GPU maps. The kernel writes the posts, the host
//               everything else. There are no locks.
//   PostState   GPU memory, kept from launch to launch: how many posts there were.
//
// **The ring.** Posts are numbered from 1; number n stands in slot (n - 1) % kPostSlots and is
// there once its `seq` is n. A thread takes a number only when post n - kPostSlots has ended, so a
// ring that is full holds threads back, and no number is lost. How post n has ended stands in
// outcomes[(n - 1) % kPostOutcomes], until kPostOutcomes more have ended in its place.
//
// **Order.** Posts are independent of each other. The signal of a post comes after its data.
//
// **Memory order.** `seq` is written last, with release, and polled with acquire; so are the
// host's words. Both sides use system scope. What a thread wrote, or saw, before it posted, is in
// what a put sends; what a get brought is there when its outcome is, and what a put brought when
// its signal is.

#ifndef COLL_RUNTIME_BASE_POSTING_LAYOUT_H
#define COLL_RUNTIME_BASE_POSTING_LAYOUT_H

#include <cstdint>

namespace coll::rt {

inline constexpr uint32_t kPostSlots = 64;
inline constexpr uint32_t kPostOutcomes = 1024;
inline constexpr uint32_t kPostPeers = 64;
inline constexpr uint32_t kPostSignals = 256;
inline constexpr uint32_t kNoSignal = ~0u;

enum class PostOp : uint32_t { Put = 1, Get = 2 };

enum class PostOutcome : uint32_t {
  None = 0, // under way
  Done = 1, // a put: the peer's memory is written, its signal under way
  // About this post alone.
  BadOp = 2,
  BadPeer = 3,
  BadRegion = 4, // no such region here, or the range leads out of it
  BadKey = 5,    // no such key of the peer, or the range leads out of its memory
  BadSignal = 6,
  Refused = 7, // by the transport, here or at the peer
  // About the connection to its peer.
  PeerFailed = 8,
  Timeout = 9, // it did not end in the host's time; the connection was given up
  // About all posts.
  Stopped = 10, // the host's side has ended
  // Results of a wait in the kernel.
  Full = 11,      // the ring had no room before the deadline: nothing was posted
  Late = 12,      // the host did not answer before the deadline
  Forgotten = 13, // it ended so long ago that its outcome was overwritten
};

// Source and destination. Memory is named by its number in the host's list
// (net/gpu/posts.h).
struct PostPlace {
  uint32_t peer;
  uint32_t region; // of this process
  uint32_t key;    // of the peer's memory
  uint64_t regionOffset;
  uint64_t keyOffset;
  uint64_t bytes; // 0: only the signal
};

struct alignas(64) Post {
  uint64_t seq; // written last
  PostOp op;
  uint32_t
      signal; // Put: the peer's counter that goes up by one when the data is there; or kNoSignal
  PostPlace place;
};
static_assert(sizeof(Post) == 64);

// A post's number and outcome in one word.
constexpr uint64_t outcomeWord(uint64_t number, PostOutcome outcome) {
  return number << 8 | static_cast<uint32_t>(outcome);
}
constexpr uint64_t numberOfOutcome(uint64_t word) { return word >> 8; }
constexpr PostOutcome outcomeOf(uint64_t word) { return static_cast<PostOutcome>(word & 0xff); }

// Zero at first.
struct PostShared {
  Post posts[kPostSlots];
  alignas(128) uint64_t outcomes[kPostOutcomes];
  alignas(128) uint64_t ended; // the posts up to this one have
  uint64_t failure;            // of the first one that failed; the host clears it
  uint32_t stopped;            // the host takes no more posts
  alignas(128) uint64_t signals[kPostSignals];
  alignas(128) uint32_t peers[kPostPeers]; // PostOutcome: why the connection has ended
};

// Zero at first.
struct PostState {
  alignas(128) uint64_t posted; // the last number that was taken
};

// The argument of a kernel.
struct PostHandle {
  PostShared *shared = nullptr; // as the GPU addresses it
  PostState *state = nullptr;
  // Deadline of each wait in the kernel. Longer than the host's, which ends a post that takes too
  // long.
  uint64_t timeoutNs = 0;
  uint64_t *errorWord = nullptr; // of kernels/error_word.h; may be null
};

inline const char *postOutcomeName(PostOutcome outcome) {
  switch (outcome) {
  case PostOutcome::None:
    return "under way";
  case PostOutcome::Done:
    return "done";
  case PostOutcome::BadOp:
    return "an operation that there is not";
  case PostOutcome::BadPeer:
    return "a peer that there is not";
  case PostOutcome::BadRegion:
    return "a region that there is not, or bytes outside of it";
  case PostOutcome::BadKey:
    return "a key that there is not, or bytes outside of the peer's memory";
  case PostOutcome::BadSignal:
    return "a signal that there is not";
  case PostOutcome::Refused:
    return "refused by the transport";
  case PostOutcome::PeerFailed:
    return "the connection to the peer has ended";
  case PostOutcome::Timeout:
    return "it passed the host's deadline";
  case PostOutcome::Stopped:
    return "the host takes no more";
  case PostOutcome::Full:
    return "the ring stayed full";
  case PostOutcome::Late:
    return "the host did not answer in time";
  case PostOutcome::Forgotten:
    return "it ended too long ago to know how";
  }
  return "an unknown outcome";
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_POSTING_LAYOUT_H
