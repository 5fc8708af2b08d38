#include "runtime/net/socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace coll::net {
namespace {

TEST(SocketTest, AddressesRoundTrip) {
  for (const char *text : {"127.0.0.1:80", "[::1]:65535", "0.0.0.0:0"}) {
    Result<Address> address = Address::parse(text);
    ASSERT_TRUE(address.ok()) << address.status().message();
    EXPECT_EQ(address->toString(), text);
  }
  for (const char *text : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
                           "::1:80", "127.0.0.1:-1"})
    EXPECT_FALSE(Address::parse(text).ok()) << text;
}

TEST(SocketTest, InterfacesAreChosenByNameOrSubnet) {
  Result<std::vector<Interface>> byName = findInterfaces("lo");
  ASSERT_TRUE(byName.ok()) << byName.status().message();
  EXPECT_EQ(byName->front().name, "lo");
  Result<std::vector<Interface>> bySubnet = findInterfaces("127.0.0.0/8");
  ASSERT_TRUE(bySubnet.ok());
  EXPECT_EQ(bySubnet->front().address.toString(), "127.0.0.1:0");
  // No address occurs twice, even if several names match it.
  Result<std::vector<Interface>> twice = findInterfaces("lo,127.0.0.0/8,lo");
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice->size(), byName->size());
  for (const char *bad : {"no-such-interface", "127.0.0.0/33", "127.0.0/8", "/8", "1.2.3.4/x", ","})
    EXPECT_FALSE(findInterfaces(bad).ok()) << bad;
  Result<std::vector<Interface>> any = findInterfaces("");
  if (any.ok() && any->size() > 1) {
    EXPECT_FALSE(any->front().loopback);
  }
}

int option(const Fd &fd, int level, int name) {
  int value = -1;
  socklen_t length = sizeof(value);
  getsockopt(fd.get(), level, name, &value, &length);
  return value;
}

TEST(SocketTest, StreamsNoticeADeadPeer) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(fd.valid());
  setStreamOptions(fd, 7'000'000);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 7000);
  // A silent peer is probed, and given up within a minute.
  EXPECT_LE(option(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
                option(fd, IPPROTO_TCP, TCP_KEEPINTVL) * option(fd, IPPROTO_TCP, TCP_KEEPCNT),
            60);
  // A stream has a deadline whatever the user asks for.
  setStreamOptions(fd, 0);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 1000);
  setStreamOptions(fd, INT64_MAX);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 3'600'000);
}

TEST(SocketTest, Ipv6InterfacesAreChosenBySubnet) {
  Result<std::vector<Interface>> loopback = findInterfaces("::1/128");
  if (!loopback.ok())
    GTEST_SKIP() << "no IPv6: " << loopback.status().message();
  EXPECT_EQ(loopback->front().name, "lo");
  EXPECT_EQ(loopback->front().address.family(), AF_INET6);
  // The result is in the order of the choice.
  Result<std::vector<Interface>> both = findInterfaces("::1/128,127.0.0.0/8");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->front().address.family(), AF_INET6);
  EXPECT_EQ(both->back().address.family(), AF_INET);
}

} // namespace
} // namespace coll::net
