// rank_links.h - a rank's connections to all other ranks of an exchange between nodes, and the
// failures that they report.
//
// Every rank is connected to every other one, so that all ranks notice at once when one ends. The
// rank with the higher number connects. Any thread may call abort(), poll() and explain() after
// connect(); one thread at a time may call the other functions.

#ifndef COLL_RUNTIME_EXCHANGE_FLOW_RANK_LINKS_H
#define COLL_RUNTIME_EXCHANGE_FLOW_RANK_LINKS_H

#include "runtime/net/transport.h"

#include <memory>
#include <mutex>
#include <vector>

namespace coll::rt {

class RankLinks {
public:
  // Nothing is connected yet. The transport outlives the object.
  static Result<std::unique_ptr<RankLinks>> create(net::Transport &transport, int rank,
                                                   int numRanks);
  ~RankLinks(); // closes

  // The data that the other ranks need to connect.
  const net::Handle &handle() const { return listener_->handle(); }
  // Blocks until all are connected; handles[r] is rank r's. kCollTimeout names the missing ranks;
  // kCollInvalidCall if there are not as many handles as ranks.
  Status connect(const std::vector<net::Handle> &handles, int64_t timeoutUs);

  bool isConnected() const { return isConnected_; }
  // The connection to another rank; after connect().
  net::Connection &to(int rank) { return *peers_[static_cast<size_t>(rank)].connection; }
  // Ok, or why the exchange is over: a rank has left, or has reported a failure. Does not block.
  Status poll();
  // The failure of the connection to `rank`, or the reason that rank has given, if there is one.
  Status explain(int rank, const Status &failure);
  // Reports to all other ranks why this rank gives up; once. poll() then returns it, too.
  void abort(const Status &cause);
  // Closes all connections: the transport then uses no buffers.
  void close();

private:
  struct Hello {
    uint32_t magic = kMagic;
    uint32_t rank = 0;
  };
  // Plain bytes: the reason of a rank that gives up.
  struct Farewell {
    int32_t code = 0;
    char text[252] = {};
  };
  struct Peer {
    std::unique_ptr<net::Connector> connector;
    std::unique_ptr<net::Connection> connection;
    Hello hello;
    net::Request *greeting = nullptr;
    Farewell farewell;
    net::Request *end = nullptr; // the receive for its farewell
    bool isReady = false;
  };
  // An accepted connection whose rank is not known yet.
  struct Guest {
    std::unique_ptr<net::Connection> connection;
    Hello hello;
    net::Request *greeting = nullptr;
  };
  static constexpr uint32_t kMagic = 0x4d6f4c01;
  static constexpr uint64_t kHelloTag = ~uint64_t{0}, kEndTag = kHelloTag - 1;

  RankLinks(net::Transport &transport, int rank, int numRanks)
      : transport_(transport), rank_(rank), peers_(static_cast<size_t>(numRanks)) {}
  Status advanceGuests();
  Result<bool> greet(Guest &guest);
  Status advance(int rank);
  Status adopt(int rank, std::unique_ptr<net::Connection> connection);
  Status listenTo(int rank);
  static Status causeOf(int rank, Farewell &farewell, uint64_t bytes);

  net::Transport &transport_;
  const int rank_;
  std::unique_ptr<net::Listener> listener_;
  std::vector<Peer> peers_; // by rank
  std::vector<std::unique_ptr<Guest>> guests_;
  bool isConnected_ = false;

  std::mutex mutex_; // protects the members below, Peer::end, Peer::isReady, and posting farewells
  Farewell own_;
  Status failure_;
  bool isClosed_ = false;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_FLOW_RANK_LINKS_H
