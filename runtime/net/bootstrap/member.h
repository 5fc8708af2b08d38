// member.h - an admitted process, as the bootstrap server sees it.

#ifndef COLL_RUNTIME_NET_BOOTSTRAP_MEMBER_H
#define COLL_RUNTIME_NET_BOOTSTRAP_MEMBER_H

#include "runtime/net/bootstrap/server.h"

#include <string>

namespace coll::net {

// Reads one request at a time and writes its reply. Only the poller's thread uses it.
class BootstrapServer::Member final : public PollHandler {
public:
  Member(BootstrapServer &server, Fd fd, uint64_t id, int rank)
      : server_(server), fd_(std::move(fd)), id_(id), rank_(rank) {}

  void onEvents(uint32_t events) override;
  void onDeadline() override {
    if (waiting_)
      server_.expire(*this);
  }

  int rank() const { return rank_; }
  uint64_t id() const { return id_; }
  int fd() const { return fd_.get(); }
  const wire::BootHeader &request() const { return request_; }
  std::string &key() { return key_; }
  std::string &value() { return value_; }
  bool waiting() const { return waiting_; }
  bool unsent() const { return unsent_; } // part of a reply is unsent

  // The request waits for other ranks, until its deadline.
  void wait();
  void reply(CollCode code, std::string_view value);

private:
  bool readRequest();
  bool take(const char *data, size_t count);
  bool flush();

  BootstrapServer &server_;
  Fd fd_;
  uint64_t id_;
  int rank_;
  std::string in_, out_;
  size_t sent_ = 0;
  wire::BootHeader request_;
  std::string key_, value_;
  bool waiting_ = false; // a request has no reply yet
  bool unsent_ = false;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_BOOTSTRAP_MEMBER_H
