// mesh.h - one rank's connections to all other ranks of the job.
//
// The rank with the higher number connects, the lower one accepts. Threads: sendAbort() may be
// called from any thread, everything else by one thread at a time.

#ifndef COLL_RUNTIME_BACKEND_NET_MESH_H
#define COLL_RUNTIME_BACKEND_NET_MESH_H

#include "runtime/backend/net/message.h"
#include "runtime/net/transport.h"

#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::rt::network {

// A connection to one rank, and what that rank has sent about itself.
class Link {
public:
  // `connection` leads to `rank`.
  Link(int rank, std::unique_ptr<net::Connection> connection);

  int rank() const { return rank_; }
  net::Connection &connection() { return *connection_; }

  // Sends or receives a message of a call. Null if no request is free now. When this rank leaves,
  // it tells the peer how many messages it sent.
  Result<net::Request *> send(const net::Segment *segments, int count, uint64_t tag);
  Result<net::Request *> recv(const net::Segment &segment, uint64_t tag);
  // Whether the request has ended; for a receive, `bytes` is the length.
  Result<net::Completion> test(net::Request *request, bool isRecv);

  // Whether the peer has left epoch `epoch` or a later one, and everything that it sent has
  // arrived.
  bool isDown() const { return down_; } // no more messages arrive on it
  bool hasLeft(uint64_t epoch) const { return leftEpoch_ >= epoch && received_ >= sentAtLeave_; }

private:
  friend class Mesh;
  // Enough for a Left and an Abort that arrive while the rank computes.
  static constexpr int kControlDepth = 4;

  struct ControlRecv {
    std::vector<uint8_t> bytes = std::vector<uint8_t>(Control::kMaxBytes);
    net::Request *request = nullptr;
  };
  struct ControlSend {
    std::vector<uint8_t> bytes;
    net::Request *request = nullptr;
  };

  int rank_;
  std::unique_ptr<net::Connection> connection_;
  uint64_t sent_ = 0, received_ = 0;
  uint64_t leftEpoch_ = 0, sentAtLeave_ = 0;
  bool down_ = false; // no more messages arrive
  std::vector<ControlRecv> recvs_;
  size_t nextRecv_ = 0;
  std::list<ControlSend> sends_; // under the mesh's mutex
};

class Mesh {
public:
  // Nothing is connected yet. The transport must outlive the mesh.
  static Result<std::unique_ptr<Mesh>> create(net::Transport &transport, int rank, int numRanks);
  ~Mesh();

  int rank() const { return rank_; }
  net::Transport &transport() { return transport_; }
  int numRanks() const { return static_cast<int>(links_.size()); }
  // The data that the other ranks need to connect.
  const net::Handle &handle() const { return listener_->handle(); }
  // Starts to connect; handles[i] is rank i's.
  Status connect(const std::vector<net::Handle> &handles);
  // Does not block. True once all others are connected.
  Result<bool> advance();
  // Ranks that are not connected yet.
  std::vector<int> missing() const;

  // The link to another rank.
  Link &link(int rank) { return *links_[static_cast<size_t>(rank)]; }
  // Whether close() was called: then there are no requests any more.
  bool closed() const { return closed_; }

  // Reports to all ranks that this rank's program has ended.
  void sendLeft(uint64_t epoch);
  // Reports to all ranks why the job ends. Any thread may call it.
  void sendAbort(const Status &cause, uint64_t key);
  // Reads the control messages of all links; returns the first Abort.
  std::optional<Control> poll();
  // The same for one link.
  std::optional<Control> poll(Link &link);
  // Closes all links: the transport then uses no buffers. Messages that were sent are delivered.
  void close();

private:
  // An accepted connection whose rank is not known yet.
  struct Guest {
    std::vector<uint8_t> bytes; // used by the connection until it is closed
    std::unique_ptr<net::Connection> connection;
    net::Request *request = nullptr;
  };
  struct Connecting {
    int rank = 0;
    std::unique_ptr<net::Connector> connector;
    std::array<uint8_t, Hello::kBytes> hello; // used by the connection until it is closed
    std::unique_ptr<net::Connection> connection;
    net::Request *request = nullptr;
  };

  Mesh(net::Transport &transport, int rank, int numRanks)
      : transport_(transport), rank_(rank), links_(static_cast<size_t>(numRanks)) {}
  Status advanceGuests();
  Result<bool> greet(Guest &guest);
  Result<bool> advanceConnecting(Connecting &connecting);
  Status adopt(int rank, std::unique_ptr<net::Connection> connection);
  void postControl(Link &link, const Control &control);

  net::Transport &transport_;
  int rank_;
  std::unique_ptr<net::Listener> listener_;
  // Lists, because requests point to the elements.
  std::list<Guest> guests_;
  std::list<Connecting> connecting_;
  std::vector<std::unique_ptr<Link>> links_; // by rank; null: this rank, or not connected yet
  int connected_ = 0;

  std::mutex mutex_; // for posting control messages, and for closing
  bool closed_ = false;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_MESH_H
