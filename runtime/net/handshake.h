// handshake.h - mutual proof of the job's secret over a non-blocking socket.
//
//   client                          server
//   Hello(nonce, context)    ->
//                            <-     Challenge(nonce)
//   Proof(HMAC over both)    ->
//                            <-     Verdict(HMAC over both, refusal)
//
// Both nonces are fresh, the labels differ by direction, and the proof covers the context: a
// recorded or reflected message proves nothing. Later data on the connection is neither encrypted
// nor signed.

#ifndef COLL_RUNTIME_NET_HANDSHAKE_H
#define COLL_RUNTIME_NET_HANDSHAKE_H

#include "runtime/net/auth.h"
#include "runtime/net/socket.h"
#include "runtime/net/wire.h"

#include <functional>
#include <vector>

namespace coll::net {

// One side of a handshake. One thread at a time drives the socket by calling advance(). It reads no
// byte beyond the handshake.
class Handshake {
public:
  enum class State { Reading, Writing, Done, Failed };
  // Decides whether a proven context is accepted. Called at most once.
  using Judge = std::function<wire::Refusal(const wire::Context &)>;

  static Handshake client(Fd fd, const Secret &secret, wire::Purpose purpose,
                          const wire::Context &context);
  static Handshake server(Fd fd, const Secret &secret, wire::Purpose purpose, Judge judge);

  // Proceeds as far as the socket allows. Reading and Writing say which event to wait for.
  State advance();
  // Only if Failed. kCollPeer: the peer answered, and rejected this side or could not prove itself;
  // kCollLink: the connection ended.
  const Status &failure() const { return failure_; }
  const wire::Context &context() const { return hello_.context; }
  // Client: the proof has been sent, and the server may have accepted it.
  bool awaitsVerdict() const { return step_ == Step::Verdict; }
  int fd() const { return fd_.get(); }
  // Only if Done.
  Fd takeFd() { return std::move(fd_); }

private:
  enum class Step { Hello, Challenge, Proof, Verdict, End };

  Handshake(Fd fd, const Secret &secret, wire::Purpose purpose)
      : fd_(std::move(fd)), secret_(secret), purpose_(purpose) {}

  void expect(Step step, size_t bytes);
  void send(size_t bytes) { out_.resize(bytes), sent_ = 0; }
  bool flush();
  bool fill();
  void take();
  void takeHello();
  void takeChallenge();
  void takeProof();
  void takeVerdict();
  Result<Mac> proof(bool ofClient, std::string_view verdict) const;
  void fail(CollCode code, std::string message);

  Fd fd_;
  Secret secret_;
  wire::Purpose purpose_;
  Judge judge_;
  wire::Hello hello_;
  uint8_t helloBytes_[wire::Hello::kBytes] = {};
  uint8_t challengeBytes_[wire::Challenge::kBytes] = {};
  Step step_ = Step::End;
  std::vector<uint8_t> in_, out_;
  size_t received_ = 0, sent_ = 0;
  Status failure_;
  bool failed_ = false;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_HANDSHAKE_H
