// posting_layout.h - the memory that a kernel and the host share if the kernel requests transfers.
//
// Threads of a kernel put posts into a ring; the host takes them out, checks every field, transfers
// the data over the network, and reports how each one ended:
//
//   PostShared  pinned host memory that the GPU maps. The kernel writes the posts, the host
//               everything else. There are no locks.
//   PostState   GPU memory, kept from launch to launch: how many posts there were.
//
// **The ring.** Posts are numbered from 1; number n is in slot (n - 1) % kPostSlots and may be read
// once its `seq` is n. A thread takes number n only when post n - kPostSlots has ended, so threads
// wait while the ring is full, and no number is lost. The outcome of post n is in outcomes[(n - 1)
// % kPostOutcomes] until post n + kPostOutcomes ends.
//
// **Order.** Posts are independent of each other. The signal of a post comes after its data.
//
// **Memory order.** `seq` is written last, with release, and polled with acquire; so are the host's
// words. Both sides use system scope. A put sends everything that its thread wrote, or saw, before
// it posted. The data of a get is there when its outcome is, and the data of a put when its signal
// is.

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
  Timeout = 9, // it did not end before the host's deadline; the connection was given up
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
  uint32_t stopped;            // not 0: the host accepts no more posts
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
  // Deadline of each wait in the kernel. Must be longer than the host's deadline for a post.
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
    return "an unknown operation";
  case PostOutcome::BadPeer:
    return "an unknown peer";
  case PostOutcome::BadRegion:
    return "an unknown region, or bytes outside of it";
  case PostOutcome::BadKey:
    return "an unknown key, or bytes outside of the peer's memory";
  case PostOutcome::BadSignal:
    return "an unknown signal";
  case PostOutcome::Refused:
    return "refused by the transport";
  case PostOutcome::PeerFailed:
    return "the connection to the peer has ended";
  case PostOutcome::Timeout:
    return "it did not end before the host's deadline";
  case PostOutcome::Stopped:
    return "the host accepts no more posts";
  case PostOutcome::Full:
    return "the ring stayed full";
  case PostOutcome::Late:
    return "the host did not answer in time";
  case PostOutcome::Forgotten:
    return "it ended so long ago that its outcome was overwritten";
  }
  return "an unknown outcome";
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_POSTING_LAYOUT_H
