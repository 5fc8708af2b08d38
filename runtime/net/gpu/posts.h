// posts.h - executes the puts, gets and signals that a kernel posts.
//
//   auto posts = DevicePosts::create(shared, std::move(options));
//   // kernels that have a rt::PostHandle with `shared` now put and get:
//   kernels/channel/posting_device.cuh
//
// A thread of the object takes posts off the ring (base/posting_layout.h), checks every field,
// calls iwrite() and iread() of the connection, and reports to the kernel how each post has ended.
// So posts are *proxied*: the kernel does not access a network card.
//
// **Memory.** A region is pinned host memory, or GPU memory that the transport reaches itself. If
// the transport does not reach the memory, regMr() fails; over a DeviceTransport, which registers
// all memory of a GPU, each post is Refused instead. Use pinned memory then. A kernel names memory
// by numbers, never by addresses: an invalid post is refused, and nothing outside the regions and
// the peer's keys is accessed.
//
// **Failure.** A bad post fails alone. If a post does not end within `timeoutUs`, or a connection
// ends, all posts to that peer fail, and the transport then no longer uses their memory; posts to
// other peers continue. Nothing waits for ever, neither here nor in the kernel.
//
// **Ownership.** `shared`, and the memory of regions, belong to the caller and outlive this object
// and the kernels that use it. Its connections carry nothing else. Start it on both sides: a
// receiver of signals needs one too; it has no regions if it posts nothing.

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
      MemoryKind::Host; // else Cuda, one GPU for all regions: flushed when data has arrived
};

struct PostPeer {
  std::unique_ptr<Connection> connection;
  std::vector<RemoteKey> keys; // keys of its memory, as posts number them
};

struct DevicePostsOptions {
  std::vector<PostRegion> regions; // of this process, as posts number them
  std::vector<PostPeer> peers;     // at most rt::kPostPeers
  int64_t timeoutUs = 30'000'000;  // deadline of a post, from when it was taken
  int64_t spinUs = 20;             // after that the thread sleeps, at most a millisecond at a time
};

// Counts since the start. They are read one by one, so they may not be consistent with each other.
struct DevicePostsStats {
  uint64_t puts = 0, gets = 0; // that are done
  uint64_t bytes = 0;          // moved by those
  uint64_t failures = 0;
  uint64_t signals = 0; // that were received
};

class DevicePosts {
public:
  // `shared` is zeroed, and is the host's address. kCollInvalidCall for invalid options.
  static Result<std::unique_ptr<DevicePosts>> create(rt::PostShared *shared,
                                                     DevicePostsOptions options);
  // Closes the connections; posts in flight end with PostOutcome::Stopped, and so do later ones of
  // kernels.
  ~DevicePosts();

  // Clears the failure that fencePosts() returns. No kernel may post meanwhile.
  void clearFailure();
  DevicePostsStats stats() const;

private:
  enum class Stage : uint8_t { Free, Move, Flush, Signal };
  // A post in flight: number n is in slot (n - 1) % kPostSlots.
  struct Slot {
    rt::Post post;
    uint64_t number = 0;
    Stage stage = Stage::Free;
    Request *request = nullptr; // of this stage; null: not begun
    int64_t deadlineUs = 0;
    uint32_t message = 0; // the signal that is sent
  };
  struct Peer {
    PostPeer link;
    Request *incoming = nullptr;
    bool isFlushing = false; // `incoming` is the flush before the signal
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
  Segment flushed_; // flushed before a signal: any of the GPU's memory makes all of it visible
  std::vector<Peer> peers_;
  std::array<Slot, rt::kPostSlots> slots_;
  uint64_t taken_ = 0, ended_ = 0; // numbers of posts
  Counters counters_;
  std::atomic<bool> isEnding_{false};
  std::thread thread_; // last, because it uses the other members
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_POSTS_H
