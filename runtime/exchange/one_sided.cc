#include "runtime/exchange/one_sided.h"

#include "runtime/base/env.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <thread>

namespace coll::rt::exchange {

namespace {

// Long rows are cut, so that a request's time is bounded.
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

} // namespace

OneSided::OneSided(Direction direction, net::Connection &connection, const net::RemoteKey &key,
                   char *own, const net::Memory *memory, int maxSegments, int64_t timeoutUs)
    : direction_(direction), connection_(connection), key_(key), own_(own), memory_(memory),
      maxSegments_(std::clamp(maxSegments, 1, kMostSegments)),
      timeoutUs_(std::min(timeoutUs, kMostTimeoutUs)) {}

Status OneSided::move(const StridedBox &box) {
  const bool writes = direction_ == Direction::Write;
  for (RowCursor row(box); !row.done(); row.next())
    COLL_RETURN_IF_ERROR(add(own_ + (writes ? row.src() : row.dst()),
                             static_cast<uint64_t>(writes ? row.dst() : row.src()),
                             static_cast<uint64_t>(box.rowBytes)));
  return {};
}

Status OneSided::add(char *own, uint64_t peerOffset, uint64_t bytes) {
  while (bytes > 0) {
    const bool follows =
        count_ > 0 && count_ < maxSegments_ && peerOffset == end_ && end_ - begin_ < kMostBytes;
    if (!follows) {
      COLL_RETURN_IF_ERROR(flush());
      begin_ = end_ = peerOffset;
    }
    const uint64_t part = std::min(bytes, kMostBytes - (end_ - begin_));
    segments_[static_cast<size_t>(count_++)] = {own, part, memory_};
    end_ += part;
    own += part;
    peerOffset += part;
    bytes -= part;
  }
  return {};
}

Status OneSided::flush() {
  if (count_ == 0)
    return {};
  if (inFlight_ == kInFlight)
    COLL_RETURN_IF_ERROR(awaitOldest());
  const int64_t deadlineUs = net::nowUs() + timeoutUs_;
  while (true) {
    Result<net::Request *> posted = direction_ == Direction::Write
                                        ? connection_.iwrite(segments_.data(), count_, key_, begin_)
                                        : connection_.iread(segments_.data(), count_, key_, begin_);
    if (!posted)
      return posted.status();
    if (*posted) {
      requests_[(oldest_ + inFlight_++) % kInFlight] = *posted;
      count_ = 0;
      return {};
    }
    if (inFlight_ > 0)
      COLL_RETURN_IF_ERROR(awaitOldest());
    else if (net::nowUs() > deadlineUs)
      return {kCollTimeout, "the connection takes no request"};
    else
      std::this_thread::yield(); // others use it too
  }
}

Status OneSided::awaitOldest() {
  Result<uint64_t> moved = net::wait(connection_, requests_[oldest_], timeoutUs_);
  oldest_ = (oldest_ + 1) % kInFlight;
  --inFlight_;
  return moved.ok() ? Status() : moved.status();
}

Status OneSided::finish() {
  Status first = flush();
  // The others are ended too, so that the connection can be used for what does work.
  while (inFlight_ > 0) {
    Status ended = awaitOldest();
    // One that has not ended has the buffers still, whatever became of the others.
    if (ended.code() == kCollTimeout)
      return ended;
    if (first.ok())
      first = ended;
  }
  return first;
}

} // namespace coll::rt::exchange
