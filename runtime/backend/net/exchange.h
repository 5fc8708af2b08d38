// exchange.h - the start of a collective: every member learns that all make the same call and, for
// small calls, receives all contributions.
// An all-gather in ceil(log2(n)) rounds (J. Bruck et al., "Efficient Algorithms for All-to-All
// Communications in Multiport Message-Passing Systems", 1997): in round k a member receives
// everything that the member 2^k positions ahead has gathered. Each message begins with its
// sender's call. A member continues only if that call equals its own, so a member that finishes
// knows that all calls are equal.

#ifndef COLL_RUNTIME_BACKEND_NET_EXCHANGE_H
#define COLL_RUNTIME_BACKEND_NET_EXCHANGE_H

#include "runtime/backend/net/mesh.h"
#include "runtime/backend/net/message_trace.h"

#include <memory>
#include <vector>

namespace coll::rt::network {

class Exchange {
public:
  // sizes[i]: bytes that position i contributes, the same on all members. The contributions of any
  // call, even a mismatched one, have at most maxBytes together. `number` is the call's number in
  // its group, for messages.
  Exchange(Mesh &mesh, const std::vector<int> &ranks, int me, uint64_t tag, uint64_t number,
           const Call &call, const std::vector<int64_t> &sizes, int64_t maxBytes);
  ~Exchange();
  Exchange(const Exchange &) = delete;
  Exchange &operator=(const Exchange &) = delete;

  // The place of this member's contribution, before the first advance().
  char *own() { return gathered_.get(); }
  // A member's contribution, once advance() has returned true.
  const char *of(int position) const;

  // See Schedule::run(). kCollMismatch if two members' calls differ.
  Result<bool> advance(bool &moved, int &failedPeer);
  std::vector<int> waitingFor() const;

private:
  struct Round {
    int from, to;        // positions of the peers
    size_t begin, bytes; // of gathered_ that are received
    size_t given;        // bytes of gathered_ that are sent, from its start
    std::unique_ptr<uint8_t[]> in;
    std::vector<uint8_t> header; // of the message that is sent
    net::Request *recv = nullptr, *send = nullptr;
    bool received = false, isSent = false;
    MessageTrace recvTrace, sendTrace;
  };

  Status post(Round &round, bool &moved, int &failedPeer);
  Status test(Round &round, bool &moved, int &failedPeer);
  Status take(Round &round, uint64_t bytes);
  Status mismatch(const char *what, int position, const std::string &theirs) const;
  int rank(int position) const { return ranks_[static_cast<size_t>(position)]; }

  Mesh &mesh_;
  const std::vector<int> &ranks_;
  int me_;
  uint64_t tag_, number_;
  CallSite site_;
  size_t room_; // size of a received message
  CallHeader header_;
  std::unique_ptr<char[]> gathered_; // begins with this member's
  std::vector<size_t> offsets_;      // in gathered_, by distance from this member
  std::vector<Round> rounds_;
  size_t current_ = 0; // first round that has not received
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_EXCHANGE_H
