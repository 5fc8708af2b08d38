#include "runtime/net/socket.h"

#include <gtest/gtest.h>

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
  // No address occurs twice, whatever names it.
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

} // namespace
} // namespace coll::net
