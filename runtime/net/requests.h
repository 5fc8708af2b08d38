// requests.h - code that the connections of the transports share: requests in flight, receives that
// wait for a message, messages that wait for a receive, and equal parts.
//
// There are no locks here: the connection's lock protects everything except `state`.

#ifndef COLL_RUNTIME_NET_REQUESTS_H
#define COLL_RUNTIME_NET_REQUESTS_H

#include "runtime/net/transport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <optional>
#include <vector>

namespace coll::net {

inline constexpr int kMaxRequestSegments = 16;

// The buffers of a request, and how it ended.
struct BufferRequest : Request {
  enum class Kind : uint8_t { Free, Send, Recv, Write, Read, Flush };
  enum State : uint32_t { Pending, Done, Failed };

  Kind kind = Kind::Free;
  uint32_t index = 0;      // index in its pool
  uint32_t generation = 0; // how many requests have had this index before
  uint64_t tag = 0;
  uint64_t total = 0;    // length of the message or transfer
  uint64_t capacity = 0; // of the buffers
  int count = 0;
  std::array<Segment, kMaxRequestSegments> segments;
  std::atomic<uint32_t> state{Pending};
  Status failure; // if Failed; written before `state`

  bool isInbound() const { return kind == Kind::Recv || kind == Kind::Read; }
  bool isPending() const { return state.load(std::memory_order_acquire) == Pending; }
  uint64_t id() const { return uint64_t(generation) << 32 | index; }

  void begin(Kind kindOf, const Segment *from, int number, uint64_t bytes);
  void finish() { state.store(Done, std::memory_order_release); }
  void fail(Status status) {
    failure = std::move(status);
    state.store(Failed, std::memory_order_release);
  }
  // Returns the outcome, once. Must not be called while the request is Pending.
  Result<Completion> outcome();
  Status truncation() const;

  // Calls use(segment number, address, bytes) for the pieces of [offset, offset + bytes), at most
  // `max` of them. Returns how many bytes they hold.
  template <typename Use>
  uint64_t forEachPiece(uint64_t offset, uint64_t bytes, int max, Use use) const {
    uint64_t done = 0;
    for (int i = 0; i < count && max > 0 && done < bytes; ++i) {
      const Segment &segment = segments[static_cast<size_t>(i)];
      if (offset >= segment.bytes) {
        offset -= segment.bytes;
        continue;
      }
      uint64_t take = std::min(segment.bytes - offset, bytes - done);
      use(static_cast<size_t>(i), static_cast<uint8_t *>(segment.data) + offset, take);
      done += take;
      offset = 0;
      --max;
    }
    return done;
  }
  // Copies all buffers, one after the other, to or from one place.
  void gather(uint8_t *to) const;
  void scatter(const uint8_t *from, uint64_t bytes) const;
};

// The error of a one-sided request with a wrong range.
inline Status noSuchRange() {
  return Status::invalid("the peer's memory has no such key or range");
}

// Requests of one direction of a connection. Their addresses do not change.
template <typename One>
class RequestPool {
public:
  explicit RequestPool(uint32_t size) : requests_(new One[size]), size_(size) {
    for (uint32_t i = size; i-- > 0;) {
      requests_[i].index = i;
      free_.push_back(i);
    }
  }

  size_t available() const { return free_.size(); }
  // Null if none is free.
  One *take() {
    if (free_.empty())
      return nullptr;
    One *request = &requests_[free_.back()];
    free_.pop_back();
    return request;
  }
  void give(One &request) {
    request.kind = One::Kind::Free;
    ++request.generation;
    free_.push_back(request.index);
  }
  // The request that an id of the peer names, or null.
  One *find(uint64_t id) {
    uint64_t index = id & 0xffffffff;
    if (index >= size_ || requests_[index].kind == One::Kind::Free || requests_[index].id() != id)
      return nullptr;
    return &requests_[index];
  }
  One &operator[](uint32_t index) { return requests_[index]; }
  One *begin() { return requests_.get(); }
  One *end() { return requests_.get() + size_; }

  // Fails every request in flight.
  void failAll(const Status &why) {
    for (One &request : *this)
      if (request.kind != One::Kind::Free && request.isPending())
        request.fail(why);
  }

private:
  std::unique_ptr<One[]> requests_;
  uint32_t size_;
  std::vector<uint32_t> free_;
};

// Removes and returns the first element that `fits`: the oldest receive for a message, or the
// oldest message for a receive.
template <typename Sequence, typename Fits>
std::optional<typename Sequence::value_type> takeFirst(Sequence &sequence, Fits fits) {
  auto it = std::find_if(sequence.begin(), sequence.end(), fits);
  if (it == sequence.end())
    return std::nullopt;
  std::optional<typename Sequence::value_type> found(std::move(*it));
  sequence.erase(it);
  return found;
}

// The oldest of the receives with this tag, or null.
template <typename Sequence>
typename Sequence::value_type takeTagged(Sequence &posted, uint64_t tag) {
  return takeFirst(posted, [tag](const auto *request) { return request->tag == tag; })
      .value_or(nullptr);
}

// A part of a transfer.
struct Extent {
  uint64_t offset = 0, bytes = 0;
};
// Up to `most` equal parts that begin at multiples of a page; fewer if they would be shorter than
// `least` bytes. Both sides compute the same.
std::vector<Extent> equalParts(uint64_t bytes, uint64_t least, size_t most);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_REQUESTS_H
