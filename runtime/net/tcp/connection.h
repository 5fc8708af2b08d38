// connection.h - a tcp connection: matching, requests, and the peer's one-sided
// operations. Stream 0 carries control and small messages, the others large data.
//
// A small message is sent at once, within the credit that the peer has given. A larger one is sent
// in one part per stream, directly between the buffers: at once if the peer has announced the
// matching receive, or within the credit; otherwise the message is announced, and sent when the
// peer has a receive for it. Receives of a tag are announced while large messages arrive with that
// tag. The number within the tag matches a message with its receive.

#ifndef COLL_RUNTIME_NET_TCP_CONNECTION_H
#define COLL_RUNTIME_NET_TCP_CONNECTION_H

#include "runtime/net/tcp/shared.h"
#include "runtime/net/tcp/stream.h"

#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace coll::net::tcp {

class TcpConnection final : public Connection {
public:
  // fds[0] becomes the control stream. There are at least two.
  static Result<std::unique_ptr<Connection>> create(Shared &shared, int device,
                                                    std::vector<Fd> fds);
  ~TcpConnection() override { close(); }

  Result<Request *> isend(const Segment *segments, int count, uint64_t tag) override;
  Result<Request *> irecv(const Segment *segments, int count, uint64_t tag) override;
  Result<Request *> iwrite(const Segment *segments, int count, const RemoteKey &key,
                           uint64_t offset) override;
  Result<Request *> iread(const Segment *segments, int count, const RemoteKey &key,
                          const RemoteRows &rows) override;
  Result<Request *> iflush(const Segment *segments, int count) override;
  Result<Completion> test(Request *request) override;
  int parts(const Request *request, MessagePart *out, int max) const override;
  void rest() override;
  void close() override;

  // The streams call these functions and hold their rx lock.
  //
  // Handles a frame; `sink` receives the destination of its payload. An error ends the connection.
  Status onFrame(int stream, const wire::Frame &frame, Sink &sink);
  // Called before the payload of a message that arrived before its receive is read: sets its
  // destination. With `intoMemory` it is read into memory if there is still no receive.
  void findPlace(int stream, Sink &sink, bool intoMemory);
  // The payload has been read. False if too many answers wait for the peer to read them.
  bool onPayload(Sink &sink);
  // A stream has closed its socket: after the peer's end, or (not clean) an error.
  void streamEnded(bool clean, const std::string &why);

private:
  using Kind = TcpRequest::Kind;

  using Pool = RequestPool<TcpRequest>;

  // Counts the messages or receives of each tag, for as many tags as there are places. A tag keeps
  // its place for ever, so a count is either exact or missing.
  class Numbers {
  public:
    struct Tag {
      uint64_t tag;
      uint64_t count;
      bool large; // the last message was large
      bool told;  // the peer counts, too: it has announced a receive
    };
    // Null if other tags have taken all places.
    Tag *find(uint64_t tag);

  private:
    static constexpr size_t kPlaces = 16;
    std::vector<Tag> tags_;
  };
  // A receive that the peer has announced and that is not used yet.
  struct ReadyReceive {
    uint64_t tag, number, id, bytes;
  };
  // A message whose data arrived before its Rts frame.
  struct Announcement {
    uint64_t tag, number;
  };
  // Whether a message may be sent for an announced receive without asking.
  static bool fitsTold(uint64_t bytes, uint64_t room) { return bytes > 0 && bytes <= room; }
  // Frames to write after the lock is released.
  struct ToSend {
    size_t stream;
    Outgoing outgoing;
  };
  using Batch = std::vector<ToSend>;

  TcpConnection(Shared &shared, const DeviceProperties &properties)
      : shared_(shared), properties_(properties) {}

  // The caller holds the lock.
  Result<TcpRequest *> begin(Pool &pool, Kind kind, const Segment *segments, int count);
  void release(TcpRequest &request);
  Status refusal() const;
  std::vector<Extent> stripes(uint64_t bytes) const;
  void becomeLarge(TcpRequest &request);
  size_t nextStream(uint64_t bytes);
  TcpRequest *takePosted(uint64_t tag, uint64_t number);
  std::optional<ReadyReceive> takeReady(uint64_t tag, uint64_t number);
  TcpRequest *takeAsked(const wire::Frame &ready);
  bool isAnswered(const wire::Frame &rts);
  void tell(TcpRequest &request, Batch &batch);
  uint64_t eagerBytes(uint64_t total, bool alone);
  When dispatch(TcpRequest &request, uint64_t tag, Batch &batch);
  // When to write a control frame that may be batched with others.
  When later() const { return shared_.oneSocket ? When::Together : When::Soon; }
  void sendParts(TcpRequest &request, wire::Frame part, Batch &batch);
  bool mayPush(const Numbers::Tag *counted, uint64_t bytes) const;
  void push(TcpRequest &request, uint64_t tag, uint64_t number, Batch &batch);
  void claim(TcpRequest &request, Unexpected &message);
  void place(int stream, Sink &sink);
  bool matchUnexpected(TcpRequest &request, Batch &batch);
  static void takeEager(TcpRequest &request, uint64_t bytes, Sink &sink);
  bool takeTold(TcpRequest &request, const wire::Frame &data);
  void noteSize(uint64_t tag, bool large);
  void clearToSend(TcpRequest &request, uint64_t senderId, uint64_t bytes, Batch &batch);
  void creditEager(uint64_t bytes, Batch &batch);
  static void deliver(TcpRequest &request, const Unexpected &message);
  void failAll(const Status &why);

  Status onEager(const wire::Frame &frame, Sink &sink, Batch &batch);
  Status onRts(const wire::Frame &frame, Batch &batch);
  Status onCts(const wire::Frame &frame, Batch &batch);
  Status onData(int stream, const wire::Frame &frame, Sink &sink);
  Status onCredit(const wire::Frame &frame);
  Status onPush(int stream, const wire::Frame &frame, Sink &sink, Batch &batch);
  Status onReady(const wire::Frame &frame, Batch &batch);
  Status onRead(const wire::Frame &frame, Batch &batch);
  Status onAck(const wire::Frame &frame);
  void onWrite(const wire::Frame &frame, Sink &sink) const;

  // The caller does not hold the lock. False if a queue is full.
  bool send(Batch &batch, When when);
  // Sends the replies to a frame that `stream` has read.
  bool sendReplies(int stream, Batch &batch);

  Shared &shared_;
  const DeviceProperties &properties_;
  std::vector<std::shared_ptr<Stream>> streams_; // never changes after create()

  std::mutex mutex_;
  Pool outbound_{kMaxRequests}, inbound_{kMaxRequests};
  std::deque<TcpRequest *> posted_; // receives without a message
  std::list<std::shared_ptr<Unexpected>> unexpected_;
  uint32_t announced_ = 0; // messages in unexpected_ that an Rts frame announced
  std::vector<Announcement> overtaken_;
  Numbers sent_, received_;
  std::deque<ReadyReceive> ready_;
  std::vector<TcpRequest *> asked_; // announced to the peer, which has not answered
  // The credit for sending without asking, and what the peer has sent on our credit.
  uint64_t windowBytes_ = wire::kEagerWindowBytes, windowMessages_ = wire::kEagerWindowMessages;
  uint64_t eagerBytes_ = 0, eagerMessages_ = 0;   // used, and not credited yet
  uint64_t creditBytes_ = 0, creditMessages_ = 0; // received, and not yet returned to the peer
  std::shared_ptr<std::atomic<uint32_t>> serving_ = std::make_shared<std::atomic<uint32_t>>(0);
  uint32_t large_ = 0; // sends in parts that are in flight
  size_t turn_ = 0;    // index of the stream whose turn is next
  size_t live_ = 0;    // streams that have not ended
  Status failure_;     // the first failure
  bool closed_ = false;
};

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_CONNECTION_H
