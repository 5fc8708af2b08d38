// stream.h - one socket of a tcp connection: frames in, frames out.
//
// Locks, in the order in which they may be taken: a stream's rx, then any stream's tx,
// then the connection's. None of them is held while something waits for a peer.

#ifndef COLL_RUNTIME_NET_TCP_STREAM_H
#define COLL_RUNTIME_NET_TCP_STREAM_H

#include "runtime/net/poller.h"
#include "runtime/net/tcp/region.h"
#include "runtime/net/tcp/request.h"
#include "runtime/net/wire.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::net::tcp {

class TcpConnection;

// Where the payload of the frame that is being read goes.
struct Sink {
  // Waiting: for a receive; read once that is posted, or after a while into memory.
  enum class Kind { None, Request, Unexpected, Region, Discard, Waiting };
  Kind kind = Kind::None;
  wire::Frame frame;
  uint64_t offset = 0; // of the next byte, in the request, the message or the region
  uint64_t remaining = 0;
  TcpRequest *request = nullptr;
  uint32_t part = kMaxParts; // of the request
  std::shared_ptr<Unexpected> unexpected;
  std::shared_ptr<Region> region;
};

// A frame to write, with the place of its payload.
struct Outgoing {
  uint8_t header[wire::Frame::kBytes];
  size_t headerSent = 0;
  uint64_t offset = 0; // of the next byte, in the request or in what is read
  uint64_t remaining = 0;
  TcpRequest *request = nullptr;  // payload, and what to finish by one part when sent
  uint32_t part = kMaxParts;      // of the request
  std::shared_ptr<Region> region; // or: payload,
  RemoteRows rows;                // which these of it are
  std::shared_ptr<void> token;    // lives until the frame is gone
};

// A frame without payload, and one with a part of a request.
Outgoing outgoingFrame(const wire::Frame &frame);
// The header of parts that were asked for. `total` goes along where the receiver does not know it,
// and the message's number where it was announced nevertheless.
wire::Frame dataFrame(uint64_t receiverId, uint64_t total, uint64_t announced = 0);
Outgoing outgoingPart(const wire::Frame &frame, TcpRequest &request, uint64_t offset);

// When a frame is to be written.
enum class When {
  Now,          // by the caller, as far as the socket takes it
  Soon,         // by the poller's thread or, with others, by the next poke
  Together,     // with others: by the next poke, or once they are many; within a look
  AfterReading, // by the caller, who is reading from this stream
};

class Stream final : public PollHandler, public std::enable_shared_from_this<Stream> {
public:
  // rxBytes: how much to read ahead of a payload. A frame's header alone: nothing is
  // copied; more: small payloads come with their header in one call.
  // Reading and writing are served by a poller each, which may be one and the same.
  Stream(TcpConnection &connection, Fd fd, Poller &rxPoller, Poller &txPoller, int index,
         size_t rxBytes);

  Status start();
  // From any thread. False: too much is queued; the peer does not read.
  bool enqueue(Outgoing outgoing, When when);
  // Payload that waits to be written or was promised: for streams of large data.
  void promise(uint64_t bytes) { queuedBytes_ += bytes; }
  uint64_t queuedBytes() const { return queuedBytes_.load(std::memory_order_relaxed); }
  // Reads what is there unless another thread does. Called often enough, it takes the
  // reading over from the poller's thread, which then costs nobody a wake-up.
  void poke();
  // Writes what waits for a poke.
  void flushDeferred();
  // The receive that its payload waits for may be there. With the connection's lock held.
  void resume() { rxPoller_.post(rxId_); }
  // Nobody will poke for a while: the poller's thread reads again.
  void rest();
  // Afterwards the stream touches neither the connection nor a buffer. What was written
  // is delivered if the peer still reads it, unless a frame was cut off.
  void detach();
  // Ends both directions; the poller's thread notices.
  void shut();
  // When to give the stream up.
  void setEnd(int64_t endUs);
  int index() const { return index_; }
  // Frames that wait for others have found some: the next may wait, too.
  bool isCrowd() const { return crowd_.load(std::memory_order_relaxed); }
  // Whether the thread that writes is awake, and a call that wakes it for what will come.
  bool writerAwake() const { return txPoller_.awake(); }
  void wakeWriter() { txPoller_.post(txId_); }

  void onEvents(uint32_t events) override;
  void onDeadline() override;
  void onPosted() override;

private:
  enum class Io { Again, Yield, Ended, Broken };
  // One turn of a stream; then the others of its thread get theirs.
  static constexpr uint64_t kTurnBytes = 4 << 20;
  // How long payload that has no receive yet is left in its socket.
  static constexpr int64_t kParkUs = 1000;

  Io readSome(bool poked);
  Io readPayload(uint64_t &budget);
  Io readMore(uint64_t &budget);
  Io readTrash();
  uint64_t copyBuffered(uint64_t bytes);
  Io frameArrived();
  Io payloadArrived();
  Io received(ssize_t count) const;
  Io flush();
  void flushOrBreak();
  void defer();
  Io writeRegion(Outgoing &outgoing);
  Io writeRequests();
  void sent(size_t bytes);
  void arm(bool out);
  void handOver(bool toPokers);
  void park();
  void unpark(bool intoMemory);
  void listen();
  void end(Io how);

  TcpConnection *connection_; // null: detached. Read under rx or tx, written under both
  Fd fd_;
  Poller &rxPoller_, &txPoller_;
  uint64_t rxId_, txId_; // equal where the pollers are
  int index_;
  std::atomic<int64_t> endUs_{0}; // 0: none

  std::mutex rx_;
  uint64_t pokes_ = 0, seenPokes_ = 0;
  std::atomic<bool> crowded_{false};    // the poller met a poke
  std::atomic<bool> handedOver_{false}; // the poller does not look for input
  std::atomic<bool> parked_{false};     // payload waits for a receive: nothing is read
  std::vector<uint8_t> buffer_;
  size_t begin_ = 0, end_ = 0; // of what was read ahead
  bool drained_ = false;       // the last call took all there was
  Sink sink_;
  std::string why_; // where Broken

  std::mutex tx_;
  std::deque<Outgoing> queue_;
  std::atomic<uint64_t> queuedBytes_{0};
  std::atomic<bool> deferred_{false}; // frames wait for the next poke or the end of reading
  uint64_t deferredBytes_ = 0;        // of those that wait for others
  int deferredFrames_ = 0;            // as many
  std::atomic<bool> crowd_{false};    // the last time, there were several
  std::atomic<bool> armed_{false};    // frames wait for room: the poller or a poke tries
  bool over_ = false;                 // the socket is closed
  std::string txWhy_;                 // where writing failed
};

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_STREAM_H
