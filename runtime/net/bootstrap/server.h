// server.h - rank 0's side of the bootstrap: admits processes, and exchanges values.
//
// Everything happens on one poller thread. A candidate (a connection that has not proven the secret
// yet) has a deadline, and the number of candidates is limited. If there are too many, one chosen
// at random is evicted, so that a flood cannot aim at an honest process, which simply retries.

#ifndef COLL_RUNTIME_NET_BOOTSTRAP_SERVER_H
#define COLL_RUNTIME_NET_BOOTSTRAP_SERVER_H

#include "runtime/net/auth.h"
#include "runtime/net/bootstrap/refusals.h"
#include "runtime/net/poller.h"
#include "runtime/net/rate_limit.h"
#include "runtime/net/wire.h"

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace coll::net {

class BootstrapServer {
public:
  static constexpr size_t kMaxCandidates = 512;
  static constexpr int64_t kHandshakeDeadlineUs = 5'000'000;
  static constexpr size_t kMaxStoreBytes = 64 << 20;

  struct Stats {
    std::atomic<int64_t> accepted{0}; // connections, including unknown processes
    std::atomic<int64_t> admitted{0}; // processes
    std::atomic<int64_t> refused{0};  // candidates that failed or were too slow
    std::atomic<int64_t> evicted{0};  // candidates that were evicted to make room
  };

  // Serves a listening, non-blocking socket. A candidate has `handshakeUs` to prove the secret.
  static Result<std::unique_ptr<BootstrapServer>>
  create(Fd fd, int worldSize, const Secret &secret, int64_t handshakeUs = kHandshakeDeadlineUs);
  // Writes the replies that are due (for at most a second) and closes the connections.
  ~BootstrapServer();

  const Address &address() const { return address_; }
  const Stats &stats() const { return stats_; }

private:
  class Acceptor;
  class Candidate;
  class Member;
  // The values of one allgather, by rank.
  struct Round {
    std::vector<std::string> values;
    std::vector<bool> here;
    int count = 0;
    size_t bytes = 0;
  };

  BootstrapServer(Fd fd, int worldSize, const Secret &secret, int64_t handshakeUs)
      : fd_(std::move(fd)), worldSize_(worldSize), secret_(secret), handshakeUs_(handshakeUs),
        taken_(static_cast<size_t>(worldSize)), members_(static_cast<size_t>(worldSize)) {}

  void acceptSome();
  void welcome(Fd fd);
  bool evictOne();
  void forget(Candidate &candidate);
  void admit(Candidate &candidate);
  wire::Refusal judge(const wire::Context &context);

  void handle(Member &member);
  void put(Member &member);
  void get(Member &member);
  void gather(Member &member);
  void completeRound(const std::string &key, Round &round);
  void endRound(std::string key, CollCode code, const std::string &answer);
  void expire(Member &member);
  void lose(Member &member, bool left);
  std::string missingRanks(const Round &round) const;

  Fd fd_;
  int worldSize_;
  Secret secret_;
  const int64_t handshakeUs_;
  Address address_;
  Stats stats_;
  RateLimitedLog log_;
  // Only the poller's thread uses the following.
  std::minstd_rand random_{std::random_device{}()};
  std::vector<std::shared_ptr<Candidate>> candidates_;
  Refusals refusals_;
  std::vector<bool> taken_; // ranks that were ever admitted
  std::vector<std::shared_ptr<Member>> members_;
  std::unordered_map<std::string, std::string> store_;
  size_t storeBytes_ = 0;
  std::unordered_map<std::string, Round> rounds_;
  std::string goneText_;           // why no round can be completed any more
  std::atomic<int> unsent_{0};     // members with replies that the socket has not accepted
  std::unique_ptr<Poller> poller_; // last: its thread ends first
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_BOOTSTRAP_SERVER_H
