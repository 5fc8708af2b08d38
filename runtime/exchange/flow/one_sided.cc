#include "runtime/exchange/flow/one_sided.h"

#include "runtime/base/env.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace coll::rt::exchange {

namespace {

// With more requests than this, of fewer bytes than this on average, a request costs more than its
// bytes.
constexpr uint64_t kFewRequests = 16, kFewBytes = 32 << 10;
constexpr int kJudgedRows = 1 << 16;

const char *endOf(const net::Segment &segment) {
  return static_cast<const char *>(segment.data) + segment.bytes;
}

// The addresses of the row in this process's buffer, and in the peer's.
std::pair<char *, uint64_t> placesOf(Direction direction, const RowCursor &row, char *own) {
  const bool writes = direction == Direction::Write;
  return {own + (writes ? row.src() : row.dst()),
          static_cast<uint64_t>(writes ? row.dst() : row.src())};
}

} // namespace

//===-- one request ---------------------------------------------------------------===//

JoinedRequest::JoinedRequest(Direction direction, const net::Memory *memory, int maxSegments)
    : direction_(direction), memory_(memory),
      maxSegments_(std::clamp(maxSegments, 1, kMostSegments)) {}

bool JoinedRequest::take(char *own, uint64_t peerOffset, uint64_t bytes) {
  if (isEmpty()) {
    begin_ = peerOffset;
    rowBytes_ = bytes;
    rows_ = 1;
  } else if (!hasPlace(own) || !join(peerOffset, bytes)) {
    return false;
  }
  if (count_ > 0 && endOf(segments_[static_cast<size_t>(count_) - 1]) == own)
    segments_[static_cast<size_t>(count_) - 1].bytes += bytes;
  else
    segments_[static_cast<size_t>(count_++)] = {own, bytes, memory_};
  return true;
}

// Whether another piece of this process's buffer, which begins at `own`, may be added.
bool JoinedRequest::hasPlace(const char *own) const {
  return count_ < maxSegments_ || endOf(segments_[static_cast<size_t>(count_) - 1]) == own;
}

// Adds these bytes of the peer's buffer, if they continue those that the request has.
bool JoinedRequest::join(uint64_t peerOffset, uint64_t bytes) {
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

Result<net::Request *> JoinedRequest::post(net::Connection &connection,
                                           const net::RemoteKey &key) const {
  if (direction_ == Direction::Write)
    return connection.iwrite(segments_.data(), count_, key, begin_);
  net::RemoteRows rows(begin_);
  if (rows_ > 1)
    rows = {begin_, static_cast<uint32_t>(rowBytes_), stride_};
  return connection.iread(segments_.data(), count_, key, rows);
}

bool isScattered(Direction direction, const std::vector<StridedBox> &boxes, char *own,
                 int maxSegments) {
  JoinedRequest request(direction, nullptr, maxSegments);
  uint64_t requests = 0, bytes = 0;
  int rows = 0;
  for (const StridedBox &box : boxes)
    for (RowCursor row(box); !row.done() && rows < kJudgedRows; row.next(), ++rows) {
      const auto [here, there] = placesOf(direction, row, own);
      const auto rowBytes = static_cast<uint64_t>(box.rowBytes);
      if (requests == 0 || !request.take(here, there, rowBytes)) {
        request.clear();
        (void)request.take(here, there, rowBytes);
        ++requests;
      }
      bytes += rowBytes;
    }
  return requests > kFewRequests && bytes < requests * kFewBytes;
}

//===-- all of them ---------------------------------------------------------------===//

OneSided::OneSided(Direction direction, net::Connection &connection, const net::RemoteKey &key,
                   char *own, const net::Memory *memory, int maxSegments, int64_t timeoutUs)
    : direction_(direction), connection_(connection), key_(key), own_(own),
      timeoutUs_(std::min(timeoutUs, kMostTimeoutUs)), next_(direction, memory, maxSegments) {}

Status OneSided::move(const StridedBox &box) {
  for (RowCursor row(box); !row.done(); row.next()) {
    const auto [here, there] = placesOf(direction_, row, own_);
    COLL_RETURN_IF_ERROR(add(here, there, static_cast<uint64_t>(box.rowBytes)));
  }
  return {};
}

Status OneSided::add(char *own, uint64_t peerOffset, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t part = std::min(bytes, JoinedRequest::kMostBytes); // long rows are cut
    if (!next_.take(own, peerOffset, part)) {
      COLL_RETURN_IF_ERROR(flush());
      (void)next_.take(own, peerOffset, part);
    }
    own += part;
    peerOffset += part;
    bytes -= part;
  }
  return {};
}

Status OneSided::flush() {
  if (next_.isEmpty())
    return {};
  if (inFlight_ == kInFlight)
    COLL_RETURN_IF_ERROR(awaitOldest());
  const int64_t deadlineUs = net::nowUs() + timeoutUs_;
  while (true) {
    Result<net::Request *> posted = next_.post(connection_, key_);
    if (!posted)
      return posted.status();
    if (*posted) {
      requests_[(oldest_ + inFlight_++) % kInFlight] = *posted;
      next_.clear();
      return {};
    }
    if (inFlight_ > 0)
      COLL_RETURN_IF_ERROR(awaitOldest());
    else if (net::nowUs() > deadlineUs)
      return {kCollTimeout, "the connection accepts no request"};
    else
      std::this_thread::yield(); // other threads use it too
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
  // The other requests are waited for too, so that the connection remains usable.
  while (inFlight_ > 0) {
    Status ended = awaitOldest();
    // A request that has not ended still owns the buffers, whatever happened to the others.
    if (ended.code() == kCollTimeout)
      return ended;
    if (first.ok())
      first = ended;
  }
  return first;
}

} // namespace coll::rt::exchange
