// paths.h - the path of messages of GPU memory, by their size: part "paths" of the table that
// COLL_ROUTES names. `coll-perf tune --paths` writes it from measurements; it may also be written
// by hand.
//
//   {"format": "coll routes", "version": 1, "routes": […],
//    "paths": [{"kind": "tcp", "max_bytes": 65536, "path": "kernel", "why": "measured: …"},
//              {"kind": "tcp", "path": "unpack"}]}
//
// A message takes the first rule of its kind that admits its size. A kind is a transport's name,
// followed by " scatter" if data arrives scattered. A rule without "max_bytes" admits every size.
// Used by the plugin for NCCL (net/gpu/transport.h) and backend net (backend/net/gpu/transport.h)
// unless the environment chooses a path.

#ifndef COLL_RUNTIME_BASE_PATHS_H
#define COLL_RUNTIME_BASE_PATHS_H

#include "runtime/base/status.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace coll::rt {

enum class DataPath : uint8_t {
  Host,   // the host copies data in and out of the GPU
  Unpack, // data stays where it landed, and a kernel fetches its pages
  Kernel, // a kernel copies from and to slots of pinned memory
  Pack,   // as Unpack, and a kernel gathers sent data into such pages; for NCCL as Unpack
};
const char *pathName(DataPath path);

// "tcp", "tcp scatter"
std::string transportKind(const std::string &transport, bool scatter);

struct PathRule {
  std::string kind;
  std::optional<int64_t> maxBytes;
  DataPath path = DataPath::Host;
  std::string why;

  // "tcp, up to 65536 bytes -> kernel (measured: …)"
  std::string describe() const;
};

class Paths {
public:
  // Reads the part "paths" of a table that parseTable() returned; the part may be missing.
  // kCollInvalidCall names the entry that is wrong.
  static Result<Paths> read(const nlohmann::json &table, const std::string &name);
  // Reads the file that COLL_ROUTES names; there are no paths if it is unset.
  static Result<Paths> fromEnv();

  const std::vector<PathRule> &all() const { return rules_; }
  // Null if no rule fits.
  const PathRule *pathFor(const std::string &kind, int64_t bytes) const;
  // All messages smaller than this take `path`; 0 if the smallest does not.
  int64_t endOf(const std::string &kind, DataPath path) const;

private:
  std::vector<PathRule> rules_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_PATHS_H
