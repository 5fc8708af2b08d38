// scoped_routes.h - a table of routes in COLL_ROUTES, for as long as the object lives.

#ifndef COLL_TEST_RUNTIME_SCOPED_ROUTES_H
#define COLL_TEST_RUNTIME_SCOPED_ROUTES_H

#include "runtime/base/env.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace coll::rt::test {

class ScopedRoutes {
public:
  // "{\"memory\": \"gpu\", \"backend\": \"direct\"}, …"
  explicit ScopedRoutes(const std::string &routes) {
    std::ofstream(path_) << R"({"format": "coll routes", "version": 1, "routes": [)" << routes
                         << "]}";
  }
  ~ScopedRoutes() { std::filesystem::remove(path_); }

private:
  const std::string path_ =
      testing::TempDir() + "coll_routes_" + std::to_string(getpid()) + ".json";
  ScopedEnv env_{"COLL_ROUTES", path_.c_str()};
};

} // namespace coll::rt::test

#endif // COLL_TEST_RUNTIME_SCOPED_ROUTES_H
