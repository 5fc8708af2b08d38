// links.h - Unix sockets between the processes of a node.
//
// They carry descriptors of memory (SCM_RIGHTS) and report the end of a process: the kernel closes
// the sockets of a process however it ended. Sockets are in the abstract name space. A connection
// is accepted as a peer's if it comes from the same user and proves the job's secret
// (net/handshake.h).
//
// A thread of the object reads all sockets. The other functions may be called from any thread.

#ifndef COLL_RUNTIME_BACKEND_DIRECT_LINKS_H
#define COLL_RUNTIME_BACKEND_DIRECT_LINKS_H

#include "runtime/net/auth.h"
#include "runtime/net/socket.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace coll::rt::direct {

class Links {
public:
  // A listening socket for `rank` of `size`; name() is for the other ranks.
  static Result<std::unique_ptr<Links>> create(int rank, int size);
  ~Links();
  Links(const Links &) = delete;
  Links &operator=(const Links &) = delete;

  const std::string &name() const { return name_; }
  // Connects to all ranks; names[i] is rank i's socket. The thread calls `onFailure` once, when a
  // peer has ended without a farewell or has reported its failure. Blocks.
  Status connect(const std::vector<std::string> &names, const net::Secret &secret,
                 int64_t timeoutUs, std::function<void(const Status &)> onFailure);

  // Sends a peer a duplicate of the descriptor. Ids are unique for the sender.
  Status give(int peer, uint64_t id, const net::Fd &fd);
  // The descriptor that the peer has sent or will send. Blocks.
  Result<net::Fd> take(int peer, uint64_t id, int64_t timeoutUs);
  // Reports to all peers why the job is over.
  void tellFailure(const Status &cause);
  // Announces to all peers that this process will not use their memory any more, and waits until
  // they have announced the same or have ended.
  void farewell(int64_t timeoutUs);

private:
  struct Message;
  struct Peer {
    net::Fd fd;
    bool over = false; // has said farewell, or has ended
    std::map<uint64_t, net::Fd> given;
  };

  Links(int rank, int size) : rank_(rank), peers_(static_cast<size_t>(size)) {}
  Status listen();
  Result<net::Fd> reach(const std::string &name, const net::Secret &secret, int64_t deadlineUs);
  Status admit(const net::Secret &secret, int64_t deadlineUs);
  void serve();
  void receive(int rank);
  void end(int rank, const Status &failure);
  Status send(int peer, const Message &message, int fd);

  const int rank_;
  std::string name_;
  net::Fd listener_, wake_[2];
  std::function<void(const Status &)> onFailure_;
  std::mutex mutex_, sendMutex_;
  std::condition_variable changed_;
  std::vector<Peer> peers_; // by rank; this rank's is not used
  bool failed_ = false, leaving_ = false;
  std::thread thread_;
};

} // namespace coll::rt::direct

#endif // COLL_RUNTIME_BACKEND_DIRECT_LINKS_H
