#include "runtime/exchange/flow/rank_links.h"

#include "runtime/base/env.h"
#include "runtime/net/socket.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace coll::rt {

namespace {

std::string nameOf(int rank) { return "rank " + std::to_string(rank); }

// Translates a connection's failure for the rank at its other end. The kernel resets or closes the
// connections of a killed process.
Status ofRank(int rank, const Status &failure) {
  if (failure.code() != kCollLink && failure.code() != kCollPeer)
    return failure.annotate(nameOf(rank));
  return {kCollPeer, nameOf(rank) + " is gone: " + failure.message()};
}

template <typename T>
net::Segment segmentOf(T &message) {
  return {&message, sizeof message, nullptr};
}

} // namespace

//===-- connecting --------------------------------------------------------------===//

Result<std::unique_ptr<RankLinks>> RankLinks::create(net::Transport &transport, int rank,
                                                     int numRanks) {
  std::unique_ptr<RankLinks> links(new RankLinks(transport, rank, numRanks));
  Result<std::unique_ptr<net::Listener>> listener = transport.listen(0);
  if (!listener)
    return listener.status();
  links->listener_ = listener.take();
  return links;
}

Status RankLinks::connect(const std::vector<net::Handle> &handles, int64_t timeoutUs) {
  if (handles.size() != peers_.size())
    return Status::invalid(std::to_string(handles.size()) + " handles of " +
                           std::to_string(peers_.size()) + " ranks");
  for (int rank = 0; rank < rank_; ++rank) {
    auto connector = transport_.connect(0, handles[static_cast<size_t>(rank)]);
    if (!connector)
      return connector.status().annotate(nameOf(rank));
    peers_[static_cast<size_t>(rank)].connector = connector.take();
  }
  const int64_t deadlineUs = net::nowUs() + std::min(timeoutUs, kMostTimeoutUs);
  while (true) {
    COLL_RETURN_IF_ERROR(poll());
    COLL_RETURN_IF_ERROR(advanceGuests());
    std::string missing;
    for (int rank = 0; rank < static_cast<int>(peers_.size()); ++rank) {
      if (rank == rank_ || peers_[static_cast<size_t>(rank)].isReady)
        continue;
      if (rank < rank_)
        if (Status status = advance(rank); !status.ok())
          return status.annotate("the connection to " + nameOf(rank));
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
    if (missing.empty()) {
      isConnected_ = true;
      return Status::okay();
    }
    if (net::nowUs() > deadlineUs)
      return {kCollTimeout, "no connection to rank " + missing};
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Status RankLinks::advanceGuests() {
  Result<std::unique_ptr<net::Connection>> accepted = listener_->accept();
  if (!accepted)
    return accepted.status();
  if (*accepted) {
    guests_.push_back(std::make_unique<Guest>());
    guests_.back()->connection = accepted.take();
  }
  for (size_t i = 0; i < guests_.size();) {
    Result<bool> done = greet(*guests_[i]);
    if (!done)
      return done.status();
    if (*done)
      guests_.erase(guests_.begin() + static_cast<ptrdiff_t>(i));
    else
      ++i;
  }
  return Status::okay();
}

// True once the connection has become a peer's.
Result<bool> RankLinks::greet(Guest &guest) {
  if (!guest.greeting) {
    const net::Segment segment = segmentOf(guest.hello);
    Result<net::Request *> request = guest.connection->irecv(&segment, 1, kHelloTag);
    if (!request)
      return request.status();
    guest.greeting = *request;
  }
  if (!guest.greeting)
    return false;
  Result<net::Completion> completion = guest.connection->test(guest.greeting);
  if (!completion)
    return completion.status();
  if (!completion->done)
    return false;
  const auto rank = static_cast<size_t>(guest.hello.rank);
  if (completion->bytes != sizeof guest.hello || guest.hello.magic != kMagic ||
      rank <= static_cast<size_t>(rank_) || rank >= peers_.size() || peers_[rank].connection)
    return Status(kCollPeer, "a connection came from a process outside of this exchange");
  COLL_RETURN_IF_ERROR(adopt(static_cast<int>(rank), std::move(guest.connection)));
  return true;
}

Status RankLinks::advance(int rank) {
  Peer &peer = peers_[static_cast<size_t>(rank)];
  if (!peer.connection) {
    Result<std::unique_ptr<net::Connection>> made = peer.connector->poll();
    if (!made)
      return made.status();
    if (!*made)
      return Status::okay();
    peer.connection = made.take();
    peer.hello.rank = static_cast<uint32_t>(rank_);
  }
  if (!peer.greeting) {
    const net::Segment segment = segmentOf(peer.hello);
    Result<net::Request *> request = peer.connection->isend(&segment, 1, kHelloTag);
    if (!request)
      return request.status();
    peer.greeting = *request;
  }
  if (!peer.greeting)
    return Status::okay();
  Result<net::Completion> completion = peer.connection->test(peer.greeting);
  if (!completion)
    return completion.status();
  return completion->done ? listenTo(rank) : Status::okay();
}

Status RankLinks::adopt(int rank, std::unique_ptr<net::Connection> connection) {
  peers_[static_cast<size_t>(rank)].connection = std::move(connection);
  return listenTo(rank);
}

Status RankLinks::listenTo(int rank) {
  Peer &peer = peers_[static_cast<size_t>(rank)];
  const net::Segment segment = segmentOf(peer.farewell);
  Result<net::Request *> request = peer.connection->irecv(&segment, 1, kEndTag);
  if (!request)
    return request.status();
  std::lock_guard<std::mutex> lock(mutex_);
  peer.end = *request;
  peer.isReady = peer.end != nullptr;
  return Status::okay();
}

//===-- ends --------------------------------------------------------------------===//

// The reason that a rank sent at its end. A rank that sent none has ended as well.
Status RankLinks::causeOf(int rank, Farewell &farewell, uint64_t bytes) {
  farewell.text[sizeof farewell.text - 1] = 0;
  if (bytes != sizeof farewell || farewell.code <= kCollOk || farewell.code > kCollInternal)
    return {kCollPeer, nameOf(rank) + " aborted without a valid cause"};
  return {static_cast<CollCode>(farewell.code), farewell.text};
}

Status RankLinks::poll() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t r = 0; r < peers_.size() && failure_.ok() && !isClosed_; ++r) {
    Peer &peer = peers_[r];
    if (!peer.end)
      continue;
    Result<net::Completion> completion = peer.connection->test(peer.end);
    if (completion.ok() && !completion->done)
      continue;
    peer.end = nullptr;
    const int rank = static_cast<int>(r);
    failure_ = completion.ok() ? causeOf(rank, peer.farewell, completion->bytes)
                               : ofRank(rank, completion.status());
  }
  return failure_;
}

Status RankLinks::explain(int rank, const Status &failure) {
  const Status known = poll();
  return known.ok() ? ofRank(rank, failure) : known;
}

void RankLinks::abort(const Status &cause) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (own_.code != kCollOk || isClosed_)
    return;
  own_.code = cause.code();
  std::snprintf(own_.text, sizeof own_.text, "%s", cause.message().c_str());
  if (failure_.ok())
    failure_ = cause;
  const net::Segment segment = segmentOf(own_);
  // A rank that cannot be told notices the end of the connection, or its own deadline.
  for (Peer &peer : peers_)
    if (peer.isReady)
      (void)peer.connection->isend(&segment, 1, kEndTag);
}

void RankLinks::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  isClosed_ = true;
  guests_.clear();
  for (Peer &peer : peers_)
    if (peer.connection)
      peer.connection->close();
}

RankLinks::~RankLinks() { close(); }

} // namespace coll::rt
