// setup.h - sets up a connection over one TCP connection: first the proof of the secret, then the
// exchange of the data that both sides need about each other's queue pairs.
//
//   connecting side                listening side
//   …handshake.h…
//   SetupInfo               ->     connects its queue pairs
//   connects its own        <-     SetupInfo
//   Ready                   ->

#ifndef COLL_RUNTIME_NET_VERBS_SETUP_H
#define COLL_RUNTIME_NET_VERBS_SETUP_H

#include "runtime/net/handshake.h"
#include "runtime/net/verbs/endpoint.h"

#include <memory>
#include <mutex>
#include <vector>

namespace coll::net::verbs {

// Progresses by itself on a poller's thread. Any thread may ask for its state.
class Setup final : public PollHandler, public std::enable_shared_from_this<Setup> {
public:
  enum class State { Proving, Exchanging, Ready, Failed };

  // For an incoming connection of listener `number`.
  static Result<std::shared_ptr<Setup>> server(Shared &shared, int device, const Secret &secret,
                                               uint64_t number, Fd fd);
  static Result<std::shared_ptr<Setup>> client(Shared &shared, int device, const Secret &secret,
                                               const HandleContent &peer);

  State state() const;
  // Only if Failed.
  Status failure() const;
  // Only if Ready, and once.
  Result<std::shared_ptr<Endpoint>> take();
  // Stops the set-up.
  void stop();

  void onEvents(uint32_t events) override;
  void onDeadline() override;

private:
  Setup(Shared &shared, int device, bool isClient)
      : shared_(shared), poller_(shared.nextPoller()), device_(device), isClient_(isClient) {}

  // The caller holds the lock.
  Status reconnect();
  void end(State state, const Status &failure = {});
  void advance();
  void advanceProof();
  bool flush();
  bool fill();
  Status makeEndpoint(int queues);
  Status took();

  Shared &shared_;
  Poller &poller_;
  const int device_;
  const bool isClient_;
  HandleContent peer_;           // client
  std::optional<Secret> secret_; // always set; optional, because a Secret has no default
  mutable std::mutex mutex_;
  State state_ = State::Proving;
  Status failure_;
  int64_t deadlineUs_ = 0;
  uint64_t id_ = 0;
  bool isConnected_ = false; // TCP
  std::optional<Handshake> shake_;
  Fd fd_; // after the proof
  std::shared_ptr<Endpoint> endpoint_;
  std::vector<uint8_t> in_, out_;
  size_t received_ = 0, sent_ = 0;
};

} // namespace coll::net::verbs

#endif // COLL_RUNTIME_NET_VERBS_SETUP_H
