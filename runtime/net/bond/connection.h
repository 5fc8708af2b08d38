// connection.h - a connection over several links; bond.h says how.
//
// One lock protects everything. Links are called only while it is held, and never call back. The
// keeper and the application's end share ownership, so the object outlives close() until the peer
// has received everything.

#ifndef COLL_RUNTIME_NET_BOND_CONNECTION_H
#define COLL_RUNTIME_NET_BOND_CONNECTION_H

#include "runtime/net/bond/mailbox.h"
#include "runtime/net/bond/request.h"
#include "runtime/net/bond/shared.h"

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace coll::net::bond {

// The status for a violation of the protocol.
Status violation(const char *what);

class BondConnection final : public Kept {
public:
  // `links` by rail, null if one is missing; at least one exists. All messages on them so far have
  // been received.
  static Result<std::unique_ptr<Connection>> create(const Identity &identity,
                                                    std::vector<std::unique_ptr<Connection>> links);

  // See Connection.
  Result<Request *> isend(const Segment *segments, int count, uint64_t tag);
  Result<Request *> irecv(const Segment *segments, int count, uint64_t tag);
  Result<Request *> oneSided(BondRequest::Kind kind, const Segment *segments, int count,
                             const RemoteKey &key, const RemoteRows &rows);
  Result<Request *> iflush(const Segment *segments, int count);
  Result<Completion> test(Request *request);
  void rest();
  void close();

  bool tick() override;

private:
  using Kind = BondRequest::Kind;
  using Stage = Part::Stage;

  // A frame in flight, kept until the peer has acknowledged it.
  struct Outgoing {
    Frame frame;
    std::vector<uint8_t> bytes;
    BondRequest *request = nullptr; // a small message that is done once this frame was sent
    Request *below = nullptr;       // while a link has it
    uint8_t rail = kNoRail;         // the link that has or had it
  };
  struct Slot {
    uint8_t *at = nullptr;
    Request *below = nullptr;
  };
  // An attempt to connect a link again.
  struct Mend {
    int64_t deadlineUs = 0;
    std::unique_ptr<Listener> listener;   // accepting end: listens…
    std::unique_ptr<Mailbox> candidate;   // …and reads the message of the incoming link
    std::unique_ptr<Connector> connector; // connecting end: connects…
    std::shared_ptr<Outgoing> hello;      // …sends the first message…
    std::unique_ptr<Connection> link;     // …over this link; destroyed first
  };
  struct Rail {
    std::unique_ptr<Connection> link; // null: it was never connected
    bool isUp = false;
    bool isClosed = true;   // at this end
    bool peerClosed = true; // at the peer's end, as far as the peer has reported
    std::vector<uint8_t> memory;
    std::deque<Slot> slots; // posted for frames, oldest first
    std::vector<uint8_t *> unposted;
    std::deque<std::shared_ptr<Outgoing>> sending; // oldest first
    // Numbered frames since the link was connected: sent, known to have arrived, received.
    uint64_t sent = 0, arrived = 0, came = 0;
    uint64_t joined = 0; // number of the frame that announces the link; later frames may use it
    uint64_t onTheWay() const { return sent - arrived; }

    std::unique_ptr<Mend> mend;
    uint64_t attempt = 0;   // number of the last Mend
    bool isInvited = false; // the peer was invited, and may report that it has joined
    int retries = 0;        // in a row
    // when the next attempt is due (0: not known); when the link was connected
    int64_t nextUs = 0, upUs = 0;
  };
  // A receive of no bytes, for a part that is not needed any more.
  struct Discard {
    size_t rail = 0;
    uint64_t tag = 0;
    Request *below = nullptr;
  };
  explicit BondConnection(const Identity &identity)
      : identity_(identity), properties_(identity.properties()) {}

  // The caller of all functions below holds the lock. connection.cc: requests, the end.
  BondRequest *begin(Kind kind, const Segment *segments, int count, uint64_t total);
  void release(BondRequest &request);
  Status refusal() const;
  void failAll(const Status &why);
  void fail(const Status &why);
  void startLingering();
  void progress(BondRequest *focus);

  // sequence.cc: numbered frames.
  void push(const Frame &frame, const uint8_t *payload = nullptr, size_t bytes = 0);
  void pushEager(const Frame &frame, BondRequest &request);
  std::optional<size_t> frameRail(uint32_t full) const;
  bool hand(const std::shared_ptr<Outgoing> &outgoing, uint32_t &full);
  void flush();
  void finishSends(size_t number);
  void takeBack(size_t number);
  void acknowledge(const Frame &frame);
  Status onFrame(size_t number, const uint8_t *bytes, uint64_t count);
  Status take(const Frame &frame, const uint8_t *payload);
  Status park(const Frame &frame, const uint8_t *payload, size_t bytes);
  Status unpark();

  // control.cc: the effect of each frame.
  Status postSlots(Rail &rail);
  Status takeFrames(size_t number);
  Status dispatch(const Frame &frame, const uint8_t *payload);
  Status onEager(const Frame &frame, const uint8_t *payload);
  Status onLarge(const Frame &came);
  Status onFin(const Frame &frame);
  Status onResend(const Frame &frame);
  Status onDown(const Frame &frame);

  // data.cc: parts, and failed links.
  static std::vector<Part> divide(uint64_t bytes, size_t count, uint64_t unit = 0);
  std::vector<uint8_t> upRails();
  uint8_t nextRail();
  void activate(BondRequest &request);
  void advance(BondRequest &request);
  Status post(BondRequest &request, Part &part);
  void testPart(BondRequest &request, Part &part);
  void settle(BondRequest &request);
  bool matchUnexpected(BondRequest &request);
  void deliver(BondRequest &request, const uint8_t *data, uint64_t bytes);
  void receive(BondRequest &request, const Frame &frame);
  void refuse(BondRequest &request, const Status &why);
  void advanceDiscards();
  std::string name(size_t rail) const;
  void railFailed(size_t number, const Status &why);
  bool closeRail(size_t number);
  void moveParts(BondRequest &request, size_t number);
  void askAgain(BondRequest &request, size_t part);

  // mend.cc: links that are connected again.
  bool isMending() const;
  void mend();
  void giveUp(size_t number, const Status &why);
  void raise(size_t number, std::unique_ptr<Connection> link);
  void forgive(Rail &rail);
  void invite(size_t number, int64_t now);
  Status welcome(size_t number);
  Status sendHello(Rail &rail, size_t number);
  Status onInvite(const Frame &frame, const uint8_t *payload);
  Status onDecline(const Frame &frame);
  Status onJoined(const Frame &frame);

  const Identity identity_;
  const DeviceProperties properties_;
  std::mutex mutex_;
  std::vector<Rail> rails_;
  size_t control_ = 0; // the rail that the last frame used
  size_t turn_ = 0;    // next rail and next active request
  int64_t nextMendUs_ = 0;

  RequestPool<BondRequest> outbound_{kMaxRequests}, inbound_{kMaxRequests};
  std::vector<BondRequest *> active_;
  std::unordered_map<uint64_t, BondRequest *> sends_; // large ones without Fin, by id
  std::deque<BondRequest *> posted_;                  // receives without a message
  std::list<Early> unexpected_;                       // messages that no receive has asked for
  std::list<Discard> discards_;
  uint32_t announced_ = 0; // large messages in unexpected_

  // Outgoing: numbered frames that are not acknowledged. Those before next_ have been given to a
  // link.
  std::deque<std::shared_ptr<Outgoing>> unacked_;
  size_t next_ = 0;
  uint64_t lastSent_ = 0, acked_ = 0, lastLarge_ = 0;
  uint64_t eagerMessages_ = 0, eagerBytes_ = 0;       // sent so far
  uint64_t peerTookMessages_ = 0, peerTookBytes_ = 0; // how many of these found a receive
  uint64_t ackedMessages_ = 0, ackedBytes_ = 0;       // small messages that the peer has received
  // Incoming.
  uint64_t received_ = 0, peerLarge_ = 0;
  std::map<uint64_t, Early> parked_; // frames that arrived before an earlier one, by number
  uint64_t parkedBytes_ = 0;
  uint64_t cameMessages_ = 0, cameBytes_ = 0, tookMessages_ = 0, tookBytes_ = 0;
  uint64_t toldReceived_ = 0, toldMessages_ = 0, toldBytes_ = 0;

  Status failure_; // of the last link
  // closed_ and not over_: messages that were done before close() are still in flight.
  bool over_ = false, closed_ = false;
  int64_t lingerUntilUs_ = 0;
  bool wasTested_ = false; // since the last tick
  uint32_t idleTicks_ = 0;
};

} // namespace coll::net::bond

#endif // COLL_RUNTIME_NET_BOND_CONNECTION_H
