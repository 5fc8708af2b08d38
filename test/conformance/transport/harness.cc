#include "test/conformance/transport/harness.h"

#include "runtime/net/socket.h"

#include <stdexcept>
#include <thread>

namespace coll::net::test {

std::string &skipReason() {
  static std::string reason;
  return reason;
}

void TransportTest::SetUp() {
  skipReason().clear();
  left_ = GetParam().make();
  right_ = GetParam().make();
  if (!skipReason().empty())
    GTEST_SKIP() << skipReason();
  ASSERT_TRUE(left_ && right_);
}

Ends TransportTest::connect() { return net::test::connect(*left_, *right_); }

namespace {

// Returns the value, or ends the test.
template <typename T>
T need(Result<T> result, const char *what) {
  if (!result.ok())
    throw std::runtime_error(std::string(what) + ": " + result.status().toString());
  return result.take();
}

} // namespace

Ends connect(Transport &left, Transport &right) {
  Ends ends;
  std::unique_ptr<Listener> listener = need(right.listen(0), "listen");
  std::unique_ptr<Connector> connector = need(left.connect(0, listener->handle()), "connect");
  for (int64_t end = nowUs() + kPatientUs; !ends.left || !ends.right; std::this_thread::yield()) {
    if (!ends.left)
      ends.left = need(connector->poll(), "connect");
    if (!ends.right)
      ends.right = need(listener->accept(), "accept");
    if (nowUs() > end)
      throw std::runtime_error("no connection in time");
  }
  return ends;
}

std::vector<uint8_t> pattern(size_t bytes, uint64_t seed) {
  std::vector<uint8_t> result(bytes);
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (uint8_t &byte : result) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<uint8_t>(state >> 56);
  }
  return result;
}

Segment segment(std::vector<uint8_t> &bytes) { return {bytes.data(), bytes.size(), nullptr}; }

namespace {

// Repeats while there is no room.
template <typename Post>
Result<Request *> patiently(Post post) {
  for (int64_t end = nowUs() + kPatientUs; nowUs() < end; std::this_thread::yield()) {
    Result<Request *> request = post();
    if (!request.ok() || *request)
      return request;
  }
  return Status(kCollTimeout, "no room for a request");
}

Request *expectPosted(const Result<Request *> &request) {
  EXPECT_TRUE(request.ok()) << request.status().toString();
  return request.ok() ? *request : nullptr;
}

} // namespace

Result<Request *> trySend(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag) {
  Segment one = segment(bytes);
  return patiently([&] { return connection.isend(&one, 1, tag); });
}

Request *send(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag) {
  return expectPosted(trySend(connection, bytes, tag));
}

Result<Request *> tryRecv(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag) {
  Segment one = segment(bytes);
  return patiently([&] { return connection.irecv(&one, 1, tag); });
}

Request *recv(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag) {
  return expectPosted(tryRecv(connection, bytes, tag));
}

void expectDone(Connection &connection, Request *request, uint64_t bytes) {
  ASSERT_NE(request, nullptr);
  Result<uint64_t> done = wait(connection, request, kPatientUs);
  ASSERT_TRUE(done.ok()) << done.status().toString();
  EXPECT_EQ(*done, bytes);
}

CollCode outcome(Connection &connection, const Result<Request *> &request) {
  if (!request.ok())
    return request.status().code();
  return wait(connection, *request, kPatientUs).status().code();
}

void expectUsable(Ends &ends) {
  for (size_t bytes : {size_t(1), size_t(300'000)}) {
    std::vector<uint8_t> data = pattern(bytes, 77), there(bytes), back(bytes);
    Request *wanted = recv(*ends.right, there, 99);
    expectDone(*ends.left, send(*ends.left, data, 99), bytes);
    expectDone(*ends.right, wanted, bytes);
    wanted = recv(*ends.left, back, 98);
    expectDone(*ends.right, send(*ends.right, there, 98), bytes);
    expectDone(*ends.left, wanted, bytes);
    EXPECT_EQ(back, data);
  }
}

} // namespace coll::net::test
