// verbs_pair.h - two verbs transports on fake devices, and a connection between them.

#ifndef COLL_TEST_NET_VERBS_PAIR_H
#define COLL_TEST_NET_VERBS_PAIR_H

#include "runtime/net/socket.h"
#include "runtime/net/verbs/verbs.h"
#include "test/net/options.h"
#include "test/support/fakes/ibverbs.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace coll::net::test {

inline VerbsOptions someOptions() {
  VerbsOptions options;
  options.iface = "lo";
  options.timeoutUs = 5'000'000;
  options.portGraceUs = 20'000;
  return options;
}

class VerbsPair : public testing::Test {
protected:
  static constexpr int64_t kPatientUs = 30'000'000;

  ~VerbsPair() override {
    pair_ = Pair();
    left_.reset();
    right_.reset();
  }

  // Opens two transports with one device each, and a connection.
  void open(const VerbsOptions &options = someOptions()) {
    pair_ = Pair();
    left_ = createVerbsTransport(options, testSecret()).take();
    right_ = createVerbsTransport(options, testSecret()).take();
    Status status = connect();
    ASSERT_TRUE(status.ok()) << status.toString();
  }

  Status connect(int device = 0) {
    Result<std::unique_ptr<Listener>> listener = right_->listen(device);
    if (!listener.ok())
      return listener.status();
    Result<std::unique_ptr<Connector>> connector = left_->connect(device, (*listener)->handle());
    if (!connector.ok())
      return connector.status();
    pair_ = Pair();
    for (int64_t end = nowUs() + kPatientUs; nowUs() < end;) {
      Result<std::unique_ptr<Connection>> mine(nullptr), theirs(nullptr);
      if (!pair_.left)
        mine = (*connector)->poll();
      if (!pair_.right)
        theirs = (*listener)->accept();
      if (!mine.ok())
        return mine.status();
      if (*mine)
        pair_.left = mine.take();
      if (theirs.ok() && *theirs)
        pair_.right = theirs.take();
      if (pair_.left && pair_.right)
        return {};
      std::this_thread::yield();
    }
    return {kCollTimeout, "no connection"};
  }

  static Status ended(Connection &connection, const Result<Request *> &request) {
    if (!request.ok() || !*request)
      return request.ok() ? Status::internal("no room") : request.status();
    return wait(connection, *request, kPatientUs).status();
  }

  // Sends one message from left to right; returns the outcomes of both sides.
  std::pair<Status, Status> message(size_t bytes) {
    std::vector<uint8_t> data(bytes, 0x5a), got(bytes);
    Segment from{data.data(), bytes, nullptr}, to{got.data(), bytes, nullptr};
    Result<Request *> wanted = pair_.right->irecv(&to, 1, 1);
    Result<Request *> sent = pair_.left->isend(&from, 1, 1);
    std::pair<Status, Status> result = {ended(*pair_.left, sent), ended(*pair_.right, wanted)};
    EXPECT_TRUE(!result.second.ok() || got == data);
    return result;
  }

  // Expects that the connection ends on both sides, in time.
  void expectBroken(const Result<Request *> &mine, const Result<Request *> &theirs, CollCode code,
                    const std::string &text) {
    Status status = ended(*pair_.left, mine);
    EXPECT_EQ(status.code(), code) << status.toString();
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
    EXPECT_NE(ended(*pair_.right, theirs).code(), kCollOk);
    EXPECT_FALSE(pair_.left->isend(nullptr, 0, 0).ok());
  }

  struct Pair {
    std::unique_ptr<Connection> left, right;
  };

  FakeIbverbs fake_{2}; // dies last
  std::unique_ptr<Transport> left_, right_;
  Pair pair_;
};

} // namespace coll::net::test

#endif // COLL_TEST_NET_VERBS_PAIR_H
