// stream.h - one socket of a tcp connection: frames in, frames out.
//
// Locks, in the order in which they may be taken: a stream's rx, then any stream's tx, then the
// connection's. No thread holds one while it waits for a peer.

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

// The destination of the payload of the frame that is being read.
struct Sink {
  // Waiting: the payload has no receive. It is read when one is posted, or into memory after a
  // while.
  enum class Kind { None, Request, Unexpected, Region, Discard, Waiting };
  Kind kind = Kind::None;
  wire::Frame frame;
  uint64_t offset = 0; // of the next byte in the destination
  uint64_t remaining = 0;
  TcpRequest *request = nullptr;
  uint32_t part = kMaxParts; // of the request
  std::shared_ptr<Unexpected> unexpected;
  std::shared_ptr<Region> region;
};

// A frame to write, and the source of its payload.
struct Outgoing {
  uint8_t header[wire::Frame::kBytes];
  size_t headerSent = 0;
  uint64_t offset = 0; // of the next byte, in the request or in the region
  uint64_t remaining = 0;
  // source of the payload; one part of it finishes when the frame is sent
  TcpRequest *request = nullptr;
  uint32_t part = kMaxParts;      // of the request
  std::shared_ptr<Region> region; // or this is the source of the payload,
  RemoteRows rows;                // and these are its rows
  std::shared_ptr<void> token;    // keeps something alive until the frame is gone
};

// A frame without payload, and one with a part of a request.
Outgoing outgoingFrame(const wire::Frame &frame);
// The header of requested parts. `total` is included if the receiver does not know it, and the
// message's number if it was announced as well.
wire::Frame dataFrame(uint64_t receiverId, uint64_t total, uint64_t announced = 0);
Outgoing outgoingPart(const wire::Frame &frame, TcpRequest &request, uint64_t offset);

// When a frame is to be written.
enum class When {
  Now,  // by the caller, as far as the socket accepts it
  Soon, // by the poller's thread or, with others, by the next poke()
  // batched with others: by the next poke(), or when there are many; at the latest by the next look
  Together,
  AfterReading, // by the caller, which is reading from this stream
};

class Stream final : public PollHandler, public std::enable_shared_from_this<Stream> {
public:
  // rxBytes: how much to read ahead of a payload. With the size of a header nothing is copied; with
  // more, small payloads are read with their header in one call. rxPoller and txPoller may be the
  // same.
  Stream(TcpConnection &connection, Fd fd, Poller &rxPoller, Poller &txPoller, int index,
         size_t rxBytes);

  Status start();
  // Any thread may call it. False if too much is queued because the peer does not read.
  bool enqueue(Outgoing outgoing, When when);
  // Announces payload that will be written, for streams of large data.
  void promise(uint64_t bytes) { queuedBytes_ += bytes; }
  uint64_t queuedBytes() const { return queuedBytes_.load(std::memory_order_relaxed); }
  // Reads the bytes that have arrived unless another thread is reading. If it is called often
  // enough, it takes over reading from the poller's thread, which saves wake-ups.
  void poke();
  // Writes the frames that wait for a poke().
  void flushDeferred();
  // Called when the receive for the waiting payload may have been posted. The caller holds the
  // connection's lock.
  void resume() { rxPoller_.post(rxId_); }
  // The caller will not call poke() for a while, so the poller's thread reads again.
  void rest();
  // After this call the stream uses neither the connection nor a buffer. Frames that were written
  // completely are delivered if the peer still reads.
  void detach();
  // Ends both directions; the poller's thread notices.
  void shut();
  // Sets the time at which the stream is given up.
  void setEnd(int64_t endUs);
  int index() const { return index_; }
  // Whether deferred frames were recently written together with others, so that the next one may
  // wait too.
  bool hasSeveralFrames() const { return severalFrames_.load(std::memory_order_relaxed); }
  // Whether the thread that writes is awake; if not, wakes it for the data that will follow.
  bool writerAwake() const { return txPoller_.awake(); }
  void wakeWriter() { txPoller_.post(txId_); }

  void onEvents(uint32_t events) override;
  void onDeadline() override;
  void onPosted() override;

private:
  enum class Io { Again, Yield, Ended, Broken };
  // Bytes that a stream moves in one turn, before the other streams of its thread.
  static constexpr uint64_t kTurnBytes = 4 << 20;
  // How long payload without a receive may stay in its socket.
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
  uint64_t rxId_, txId_; // equal if the pollers are
  int index_;
  std::atomic<int64_t> endUs_{0}; // 0: not set

  std::mutex rx_;
  uint64_t pokes_ = 0, seenPokes_ = 0;
  std::atomic<bool> pokedWhileReading_{false}; // poke() found the poller reading
  std::atomic<bool> handedOver_{false};        // the poller does not wait for input
  std::atomic<bool> parked_{false};            // payload waits for a receive: nothing is read
  std::vector<uint8_t> buffer_;
  size_t begin_ = 0, end_ = 0; // of the bytes that were read ahead
  bool drained_ = false;       // the last call read all bytes that had arrived
  Sink sink_;
  std::string why_; // if Broken

  std::mutex tx_;
  std::deque<Outgoing> queue_;
  std::atomic<uint64_t> queuedBytes_{0};
  std::atomic<bool> deferred_{false};      // frames wait for the next poke or the end of reading
  uint64_t deferredBytes_ = 0;             // bytes of the frames that wait for others
  int deferredFrames_ = 0;                 // number of such frames
  std::atomic<bool> severalFrames_{false}; // whether there were several such frames the last time
  std::atomic<bool> armed_{false}; // frames wait for room in the socket: the poller or poke() tries
  bool over_ = false;              // the socket is closed
  std::string txWhy_;              // if writing failed
};

} // namespace coll::net::tcp

#endif // COLL_RUNTIME_NET_TCP_STREAM_H
