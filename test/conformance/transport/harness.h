// harness.h - the suite for every transport.
//
// A transport joins with one file that has one line: COLL_TRANSPORT_CONFORMANCE(name, make), where
// make() returns a new transport. If this machine cannot have one, it returns null and sets
// skipReason().

#ifndef COLL_TEST_CONFORMANCE_TRANSPORT_HARNESS_H
#define COLL_TEST_CONFORMANCE_TRANSPORT_HARNESS_H

#include "runtime/net/transport.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace coll::net::test {

inline constexpr int64_t kPatientUs = 60'000'000;

// Why the transport under test is not available here; the tests are then skipped.
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

// Ends the test, by an exception, if the connection cannot be made.
Ends connect(Transport &left, Transport &right);

// Bytes that depend on `seed` and the position.
std::vector<uint8_t> pattern(size_t bytes, uint64_t seed);
Segment segment(std::vector<uint8_t> &bytes);

// These post repeatedly until there is room; on an error they fail the test and return null.
Request *send(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag);
Request *recv(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag);
// The same if a connection that has failed may refuse it.
Result<Request *> trySend(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag);
Result<Request *> tryRecv(Connection &connection, std::vector<uint8_t> &bytes, uint64_t tag);
// Waits, and expects success with so many bytes.
void expectDone(Connection &connection, Request *request, uint64_t bytes);
// Waits, and returns the code of the outcome, or that of the refusal.
CollCode outcome(Connection &connection, const Result<Request *> &request);
// Expects that both ends still move messages, of any size.
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
