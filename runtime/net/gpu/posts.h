// posts.h - does what a kernel asks for by itself: puts, gets and signals.
//
//   auto posts = DevicePosts::create(shared, std::move(options));
//   // kernels that have a rt::PostHandle with `shared` now put and get:
//   kernels/channel/posting_device.cuh
//
// A thread of its own takes posts off the ring (base/posting_layout.h), checks every field, drives
// iwrite() and iread() of the connection, and tells the kernel how each one has ended. So this is
// *proxied*: no doorbell of a network card is rung by the kernel.
//
// **Memory.** A region is pinned host memory, or GPU memory that the transport reaches itself. Of
// what it does not reach, regMr() says so, or, over a DeviceTransport, which registers all memory
// of a GPU, each post is Refused; posts then use pinned memory. What a kernel says of memory are
// numbers, never addresses: a wild post is refused, and nothing outside of the regions, and of the
// peer's keys, is touched.
//
// **Failure.** A bad post concerns itself. One that does not end within `timeoutUs`, or a
// connection that ends, concerns all posts to that peer, whose memory then is no transport's any
// more; those to others go on. Nothing waits for ever, neither here nor in the kernel.
//
// **Ownership.** `shared`, and the memory of regions, belong to the caller and outlive this object
// and the kernels that use it. Its connections carry nothing else. Start it on both sides: who
// receives signals needs one too, with no regions if it posts nothing.

#ifndef COLL_RUNTIME_NET_GPU_POSTS_H
#define COLL_RUNTIME_NET_GPU_POSTS_H

#include "runtime/base/posting_layout.h"
#include "runtime/net/transport.h"

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace coll::net {

struct PostRegion {
  Segment segment;
  MemoryKind kind =
      MemoryKind::Host; // else a GPU's, of one for all regions: flushed when data came
};

struct PostPeer {
  std::unique_ptr<Connection> connection;
  std::vector<RemoteKey> keys; // of its memory, as posts number them
};

struct DevicePostsOptions {
  std::vector<PostRegion> regions; // of this process, as posts number them
  std::vector<PostPeer> peers;     // at most rt::kPostPeers
  int64_t timeoutUs = 30'000'000;  // of a post, from when it was taken
  int64_t spinUs = 20;             // before the thread begins to sleep, a millisecond at most
};

// Since the start. Read one by one: they need not agree with each other.
struct DevicePostsStats {
  uint64_t puts = 0, gets = 0; // that were done
  uint64_t bytes = 0;          // of those
  uint64_t failures = 0;
  uint64_t signals = 0; // that came
};

class DevicePosts {
public:
  // `shared` is zeroed, and as the host addresses it. kCollInvalidCall for what makes no sense.
  static Result<std::unique_ptr<DevicePosts>> create(rt::PostShared *shared,
                                                     DevicePostsOptions options);
  // Closes the connections; what is under way ends with PostOutcome::Stopped, and so does what
  // kernels ask for afterwards.
  ~DevicePosts();

  // Forgets the failure that fencePosts() gives. While no kernel posts.
  void clearFailure();
  DevicePostsStats stats() const;

private:
  enum class Stage : uint8_t { Free, Move, Flush, Signal };
  // A post under way: number n is in slot (n - 1) % kPostSlots.
  struct Slot {
    rt::Post post;
    uint64_t number = 0;
    Stage stage = Stage::Free;
    Request *request = nullptr; // of this stage; null: not begun
    int64_t deadlineUs = 0;
    uint32_t message = 0; // the signal, on its way
  };
  struct Peer {
    PostPeer link;
    Request *incoming = nullptr;
    bool isFlushing = false; // `incoming` is the flush that precedes the signal
    uint32_t message = 0;
    bool hasFailed = false;
  };
  struct Counters {
    std::atomic<uint64_t> puts{0}, gets{0}, bytes{0}, failures{0}, signals{0};
  };

  DevicePosts(rt::PostShared *shared, DevicePostsOptions options);
  void serve();
  bool takePosts();
  rt::PostOutcome check(const rt::Post &post) const;
  bool advance(Slot &slot);
  bool goOn(Slot &slot);
  Result<Request *> begin(Slot &slot);
  Stage after(const Slot &slot) const;
  void finish(Slot &slot, rt::PostOutcome outcome);
  void refused(Slot &slot, const Status &why);
  void fail(uint32_t peer, rt::PostOutcome why);
  bool receiveSignals(uint32_t peer);
  Result<Request *> nextIncoming(Peer &peer);

  rt::PostShared *const shared_;
  const std::vector<PostRegion> regions_;
  const int64_t timeoutUs_, spinUs_;
  Segment flushed_; // before a signal: of any of the GPU's memory, which makes all of it visible
  std::vector<Peer> peers_;
  std::array<Slot, rt::kPostSlots> slots_;
  uint64_t taken_ = 0, ended_ = 0; // numbers of posts
  Counters counters_;
  std::atomic<bool> isEnding_{false};
  std::thread thread_; // last: uses the others
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_POSTS_H
