// harness.h - the suite that every transport joins.
//
// A transport joins with one file that holds one line: COLL_TRANSPORT_CONFORMANCE(name,
// make), where make() gives a fresh transport. Where this machine cannot have one, it gives
// null and sets skipReason().

#ifndef COLL_TEST_CONFORMANCE_TRANSPORT_HARNESS_H
#define COLL_TEST_CONFORMANCE_TRANSPORT_HARNESS_H

#include "runtime/net/transport.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace coll::net::test {

inline constexpr int64_t kPatientUs = 60'000'000;

// Why the transport under test cannot be had here; the tests are then skipped.
std::string &skipReason();

struct TransportCase {
  const char *name;
  std::unique_ptr<Transport> (*make)();
};

struct Ends {
  std::unique_ptr<Connection> left, right;
};

// Two transports, `left` and `right`, that connect to each other.
class TransportTest : public testing::TestWithParam<TransportCase> {
protected:
  void SetUp() override;
  Ends connect();

  std::unique_ptr<Transport> left_, right_;
};

// Ends the test, by an exception, where it cannot be had.
Ends connect(Transport &left, Transport &right);

// Bytes that depend on `seed` and the position.
std::vector<uint8_t> pattern(size_t bytes, uint64_t seed);
Segment segment(std::vector<uint8_t> &bytes);

// Post, again while there is no room; fails the test on an error, and gives null.
Request *send(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag);
Request *recv(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag);
// The same where a connection that has failed may refuse it.
Result<Request *> trySend(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag);
Result<Request *> tryRecv(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag);
// Waits, and expects success with so many bytes.
void expectDone(Connection &connection, Request *request, uint64_t bytes);
// Waits, and gives the code of the outcome; that of the refusal if it was refused.
CollCode outcome(Connection &connection, const Result<Request *> &request);
// Both ends still move messages, of any size.
void expectUsable(Ends &ends);

#define COLL_TRANSPORT_CONFORMANCE(transport, make)                                                \
  namespace coll::net::test {                                                                      \
  INSTANTIATE_TEST_SUITE_P(transport, TransportTest,                                               \
                           testing::Values(TransportCase{#transport, make}),                       \
                           [](const auto &info) { return std::string(info.param.name); });         \
  }                                                                                                \
  static_assert(true, "")

} // namespace coll::net::test

#endif // COLL_TEST_CONFORMANCE_TRANSPORT_HARNESS_H
