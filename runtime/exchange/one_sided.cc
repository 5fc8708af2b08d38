#include "runtime/exchange/one_sided.h"

#include "runtime/base/env.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <thread>

namespace coll::rt::exchange {

namespace {

// Long rows are cut, so that a request's time is bounded.
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

const char *endOf(const net::Segment &segment) {
  return static_cast<const char *>(segment.data) + segment.bytes;
}

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
    const uint64_t part = std::min(bytes, kMostBytes);
    if (!hasPlace(own) || !join(peerOffset, part)) {
      COLL_RETURN_IF_ERROR(flush());
      begin_ = peerOffset;
      rowBytes_ = part;
      rows_ = 1;
    }
    if (count_ > 0 && endOf(segments_[static_cast<size_t>(count_) - 1]) == own)
      segments_[static_cast<size_t>(count_) - 1].bytes += part;
    else
      segments_[static_cast<size_t>(count_++)] = {own, part, memory_};
    own += part;
    peerOffset += part;
    bytes -= part;
  }
  return {};
}

// Whether the request may end with a piece of this process's buffer that begins there.
bool OneSided::hasPlace(const char *own) const {
  return count_ > 0 &&
         (count_ < maxSegments_ || endOf(segments_[static_cast<size_t>(count_) - 1]) == own);
}

// Lets the request go on with these bytes of the peer's buffer, if they fit what it has.
bool OneSided::join(uint64_t peerOffset, uint64_t bytes) {
  if (rows_ * rowBytes_ + bytes > kMostBytes)
    return false;
  if (rows_ == 1 && peerOffset == begin_ + rowBytes_) {
    rowBytes_ += bytes;
    return true;
  }
  if (direction_ == Direction::Write || bytes != rowBytes_ || rows_ == net::kMaxRemoteRows)
    return false;
  if (rows_ == 1 && peerOffset > begin_)
    stride_ = peerOffset - begin_;
  if (peerOffset != begin_ + rows_ * stride_ || stride_ < rowBytes_)
    return false;
  ++rows_;
  return true;
}

Status OneSided::flush() {
  if (count_ == 0)
    return {};
  if (inFlight_ == kInFlight)
    COLL_RETURN_IF_ERROR(awaitOldest());
  const int64_t deadlineUs = net::nowUs() + timeoutUs_;
  while (true) {
    Result<net::Request *> posted = post();
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

Result<net::Request *> OneSided::post() {
  if (direction_ == Direction::Write)
    return connection_.iwrite(segments_.data(), count_, key_, begin_);
  net::RemoteRows rows(begin_);
  if (rows_ > 1)
    rows = {begin_, static_cast<uint32_t>(rowBytes_), stride_};
  return connection_.iread(segments_.data(), count_, key_, rows);
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
