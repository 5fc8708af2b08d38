#include "test/net/options.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--frames=", 9) == 0)
      coll::net::test::fuzzFrames = std::atoll(argv[i] + 9);
    if (std::strncmp(argv[i], "--connections=", 14) == 0)
      coll::net::test::hostileConnections = std::atoi(argv[i] + 14);
  }
  return RUN_ALL_TESTS();
}
