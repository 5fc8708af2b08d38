// mesh.h - one rank's connections to all other ranks of the job.
//
// The rank with the higher number connects, the lower one accepts. Threads: sendAbort()
// may be called from any thread, everything else by one at a time.

#ifndef COLL_RUNTIME_BACKEND_NET_MESH_H
#define COLL_RUNTIME_BACKEND_NET_MESH_H

#include "runtime/backend/net/message.h"
#include "runtime/net/transport.h"

#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace coll::rt::network {

// One connection, and what its other end has said of itself.
class Link {
public:
  // `connection` is the one to `rank`.
  Link(int rank, std::unique_ptr<net::Connection> connection);

  int rank() const { return rank_; }
  net::Connection &connection() { return *connection_; }

  // Messages of calls. Null where no request is free at the moment. The peer is told how
  // many there were when this rank leaves.
  Result<net::Request *> send(const net::Segment *segments, int count, uint64_t tag);
  Result<net::Request *> recv(const net::Segment &segment, uint64_t tag);
  // Whether the request has ended; of a receive, `bytes` says the length.
  Result<net::Completion> test(net::Request *request, bool isRecv);

  // The peer is in no program, epoch `epoch` or later, and all that it sent is here.
  bool isDown() const { return down_; } // nothing comes from it any more
  bool hasLeft(uint64_t epoch) const { return leftEpoch_ >= epoch && received_ >= sentAtLeave_; }

private:
  friend class Mesh;
  // Enough for a Left and an Abort that come while the rank computes.
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
  bool down_ = false; // nothing is received any more
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
  // What the others need to connect.
  const net::Handle &handle() const { return listener_->handle(); }
  // Begins to connect; handles[i] is rank i's.
  Status connect(const std::vector<net::Handle> &handles);
  // Does not block. True once all others are connected.
  Result<bool> advance();
  // Ranks that are not connected yet.
  std::vector<int> missing() const;

  // Another rank's link.
  Link &link(int rank) { return *links_[static_cast<size_t>(rank)]; }
  // Whether close() was called: then there are no requests any more.
  bool closed() const { return closed_; }

  // Tells everyone that this rank's program is over.
  void sendLeft(uint64_t epoch);
  // Tells everyone why the job ends. Any thread.
  void sendAbort(const Status &cause, uint64_t key);
  // Takes what the others have told; the first Abort is returned.
  std::optional<Control> poll();
  // The same for one link.
  std::optional<Control> poll(Link &link);
  // Takes all buffers back from the transport; what was sent is delivered.
  void close();

private:
  // An accepted connection that has not said who it is.
  struct Guest {
    std::vector<uint8_t> bytes; // the connection's until that is closed
    std::unique_ptr<net::Connection> connection;
    net::Request *request = nullptr;
  };
  struct Connecting {
    int rank = 0;
    std::unique_ptr<net::Connector> connector;
    std::array<uint8_t, Hello::kBytes> hello; // the connection's until that is closed
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
  // Lists, because requests point into the elements.
  std::list<Guest> guests_;
  std::list<Connecting> connecting_;
  std::vector<std::unique_ptr<Link>> links_; // by rank; null: this one, or not there yet
  int connected_ = 0;

  std::mutex mutex_; // posting control messages, and closing
  bool closed_ = false;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_MESH_H
