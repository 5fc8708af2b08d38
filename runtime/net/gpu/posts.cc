#include "runtime/net/gpu/posts.h"

#include "runtime/base/thread.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace coll::net {

using rt::Post;
using rt::PostOp;
using rt::PostOutcome;
using rt::PostPlace;

namespace {

constexpr uint64_t kSignalTag = 0x706f7374; // the only tag of the connection

template <typename Word>
Word acquire(const Word &word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}
template <typename Word>
void release(Word &word, Word value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

bool isInside(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

// Whether the error concerns only the request, so that the connection continues.
bool isOfRequest(const Status &status) {
  return status.code() == kCollInvalidCall || status.code() == kCollMismatch ||
         status.code() == kCollUnsupported;
}

} // namespace

//===-- life --------------------------------------------------------------------===//

Result<std::unique_ptr<DevicePosts>> DevicePosts::create(rt::PostShared *shared,
                                                         DevicePostsOptions options) {
  if (!shared)
    return Status::invalid("posts of a kernel without memory");
  if (options.peers.size() > rt::kPostPeers)
    return Status::invalid(std::to_string(options.peers.size()) + " peers of a kernel's posts; " +
                           std::to_string(rt::kPostPeers) + " at most");
  if (options.timeoutUs <= 0 || options.spinUs < 0)
    return Status::invalid("posts of a kernel without a timeout");
  for (const PostPeer &peer : options.peers)
    if (!peer.connection)
      return Status::invalid("a peer of a kernel's posts without connection");
  for (const PostRegion &region : options.regions)
    if (region.segment.bytes && !region.segment.data)
      return Status::invalid("a region of a kernel's posts without memory");
  std::unique_ptr<DevicePosts> posts(new DevicePosts(shared, std::move(options)));
  COLL_RETURN_IF_ERROR(rt::startThread(posts->thread_, "the posts of kernels",
                                       [raw = posts.get()] { raw->serve(); }));
  return posts;
}

DevicePosts::DevicePosts(rt::PostShared *shared, DevicePostsOptions options)
    : shared_(shared), regions_(std::move(options.regions)), timeoutUs_(options.timeoutUs),
      spinUs_(options.spinUs) {
  for (const PostRegion &region : regions_)
    if (region.kind != MemoryKind::Host && region.segment.bytes)
      flushed_ = {region.segment.data, 1, region.segment.memory};
  for (PostPeer &link : options.peers)
    peers_.emplace_back().link = std::move(link);
}

DevicePosts::~DevicePosts() {
  isEnding_ = true;
  if (thread_.joinable())
    thread_.join();
  for (Peer &peer : peers_)
    peer.link.connection->close();
  for (Slot &slot : slots_)
    if (slot.stage != Stage::Free)
      finish(slot, PostOutcome::Stopped);
  release(shared_->stopped, 1u);
}

void DevicePosts::clearFailure() { release(shared_->failure, uint64_t{0}); }

DevicePostsStats DevicePosts::stats() const {
  return {counters_.puts, counters_.gets, counters_.bytes, counters_.failures, counters_.signals};
}

// Yields for spinUs after progress, then sleeps for an eighth of the time without progress, at most
// a millisecond.
void DevicePosts::serve() {
  int64_t lastMoveUs = nowUs();
  while (!isEnding_) {
    bool moved = takePosts();
    for (Slot &slot : slots_)
      if (slot.stage != Stage::Free)
        moved |= advance(slot);
    for (uint32_t peer = 0; peer < peers_.size(); ++peer)
      moved |= receiveSignals(peer);
    const int64_t idleUs = moved ? 0 : nowUs() - lastMoveUs;
    if (moved)
      lastMoveUs = nowUs();
    else if (idleUs <= spinUs_)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(
          std::chrono::microseconds(std::clamp<int64_t>(idleUs / 8, 1, 1000)));
  }
}

//===-- posts -------------------------------------------------------------------===//

// Takes at most as many posts as the ring has places: a bad post frees its place at once, and a
// kernel that keeps posting bad ones must not keep the thread from its other work.
bool DevicePosts::takePosts() {
  for (uint32_t i = 0; i < rt::kPostSlots; ++i) {
    const uint64_t number = taken_ + 1;
    const Post &post = shared_->posts[taken_ % rt::kPostSlots];
    Slot &slot = slots_[taken_ % rt::kPostSlots];
    // A correct kernel does not overwrite a post that is in flight.
    if (slot.stage != Stage::Free || acquire(post.seq) != number)
      return i != 0;
    slot = Slot();
    slot.post = post; // checks use only this copy, because the ring may change meanwhile
    slot.number = number;
    slot.stage = Stage::Move;
    slot.deadlineUs = nowUs() + timeoutUs_;
    taken_ = number;
    if (const PostOutcome bad = check(slot.post); bad != PostOutcome::Done)
      finish(slot, bad);
  }
  return true;
}

PostOutcome DevicePosts::check(const Post &post) const {
  const PostPlace &place = post.place;
  if (post.op != PostOp::Put && post.op != PostOp::Get)
    return PostOutcome::BadOp;
  if (place.peer >= peers_.size())
    return PostOutcome::BadPeer;
  if (place.region >= regions_.size() ||
      !isInside(place.regionOffset, place.bytes, regions_[place.region].segment.bytes))
    return PostOutcome::BadRegion;
  const std::vector<RemoteKey> &keys = peers_[place.peer].link.keys;
  if (place.key >= keys.size() || !isInside(place.keyOffset, place.bytes, keys[place.key].bytes))
    return PostOutcome::BadKey;
  if (post.signal != rt::kNoSignal && (post.op != PostOp::Put || post.signal >= rt::kPostSignals))
    return PostOutcome::BadSignal;
  return PostOutcome::Done;
}

// Whether the post has progressed. The deadline applies only if it has not: this process may have
// been stopped for a while.
bool DevicePosts::advance(Slot &slot) {
  const uint32_t peer = slot.post.place.peer;
  if (peers_[peer].hasFailed) {
    finish(slot, PostOutcome::PeerFailed);
    return true;
  }
  if (goOn(slot))
    return true;
  if (nowUs() <= slot.deadlineUs)
    return false;
  fail(peer, PostOutcome::Timeout); // before the kernel may use its memory again
  finish(slot, PostOutcome::Timeout);
  return true;
}

bool DevicePosts::goOn(Slot &slot) {
  if (!slot.request) {
    Result<Request *> begun = begin(slot);
    if (!begun.ok())
      refused(slot, begun.status());
    else
      slot.request = *begun;
    return !begun.ok() || *begun != nullptr;
  }
  Result<Completion> outcome = peers_[slot.post.place.peer].link.connection->test(slot.request);
  if (!outcome.ok()) {
    refused(slot, outcome.status());
    return true;
  }
  if (!outcome->done)
    return false;
  slot.request = nullptr;
  slot.stage = after(slot);
  if (slot.stage == Stage::Free)
    finish(slot, PostOutcome::Done);
  return true;
}

Result<Request *> DevicePosts::begin(Slot &slot) {
  const PostPlace &place = slot.post.place;
  const PostPeer &link = peers_[place.peer].link;
  Segment segment = regions_[place.region].segment;
  segment.data = static_cast<uint8_t *>(segment.data) + place.regionOffset;
  segment.bytes = place.bytes;
  if (slot.stage == Stage::Flush)
    return link.connection->iflush(&segment, 1);
  if (slot.stage == Stage::Signal) {
    slot.message = slot.post.signal;
    const Segment message{&slot.message, sizeof(slot.message), nullptr};
    return link.connection->isend(&message, 1, kSignalTag);
  }
  if (slot.post.op == PostOp::Put)
    return link.connection->iwrite(&segment, 1, link.keys[place.key], place.keyOffset);
  return link.connection->iread(&segment, 1, link.keys[place.key], place.keyOffset);
}

DevicePosts::Stage DevicePosts::after(const Slot &slot) const {
  if (slot.stage != Stage::Move)
    return Stage::Free;
  if (slot.post.op == PostOp::Put)
    return slot.post.signal == rt::kNoSignal ? Stage::Free : Stage::Signal;
  return regions_[slot.post.place.region].kind == MemoryKind::Host ? Stage::Free : Stage::Flush;
}

void DevicePosts::finish(Slot &slot, PostOutcome outcome) {
  if (outcome == PostOutcome::Done) {
    ++(slot.post.op == PostOp::Put ? counters_.puts : counters_.gets);
    counters_.bytes += slot.post.place.bytes;
  } else {
    ++counters_.failures;
    if (acquire(shared_->failure) == 0)
      release(shared_->failure, rt::outcomeWord(slot.number, outcome));
  }
  slot.stage = Stage::Free;
  // Release: the data, and the failure, become visible first.
  release(shared_->outcomes[(slot.number - 1) % rt::kPostOutcomes],
          rt::outcomeWord(slot.number, outcome));
  while (ended_ < taken_ && slots_[ended_ % rt::kPostSlots].stage == Stage::Free)
    ++ended_;
  release(shared_->ended, ended_);
}

void DevicePosts::refused(Slot &slot, const Status &why) {
  if (!isOfRequest(why))
    fail(slot.post.place.peer, PostOutcome::PeerFailed);
  finish(slot, isOfRequest(why) ? PostOutcome::Refused : PostOutcome::PeerFailed);
}

// Afterwards the connection uses no memory. Later posts to this peer end as soon as they are read.
void DevicePosts::fail(uint32_t peer, PostOutcome why) {
  peers_[peer].hasFailed = true;
  peers_[peer].link.connection->close();
  release(shared_->peers[peer], static_cast<uint32_t>(why));
}

//===-- signals -----------------------------------------------------------------===//

Result<Request *> DevicePosts::nextIncoming(Peer &peer) {
  Connection &connection = *peer.link.connection;
  if (peer.isFlushing)
    return connection.iflush(&flushed_, 1);
  const Segment message{&peer.message, sizeof(peer.message), nullptr};
  return connection.irecv(&message, 1, kSignalTag);
}

bool DevicePosts::receiveSignals(uint32_t number) {
  Peer &peer = peers_[number];
  if (peer.hasFailed)
    return false;
  if (!peer.incoming) {
    Result<Request *> posted = nextIncoming(peer);
    if (posted.ok())
      peer.incoming = *posted;
    else
      fail(number, PostOutcome::PeerFailed);
    return !posted.ok();
  }
  Result<Completion> came = peer.link.connection->test(peer.incoming);
  if (came.ok() && !came->done)
    return false;
  peer.incoming = nullptr;
  // Data from the network is checked like data from a kernel.
  const bool isBad = !peer.isFlushing && came.ok() &&
                     (came->bytes != sizeof(peer.message) || peer.message >= rt::kPostSignals);
  if (!came.ok() || isBad) {
    fail(number, PostOutcome::PeerFailed);
    return true;
  }
  peer.isFlushing = !peer.isFlushing && flushed_.bytes != 0;
  if (peer.isFlushing)
    return true;
  ++counters_.signals;
  release(shared_->signals[peer.message], shared_->signals[peer.message] + 1);
  return true;
}

} // namespace coll::net
