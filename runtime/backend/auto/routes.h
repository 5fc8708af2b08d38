// routes.h - which backend serves which call: a table, from a file or built in.
//
// The file is JSON, written by `coll-perf tune` or by hand:
//
//   {"format": "coll routes", "version": 1, "made_by": "coll-perf tune …", "machine": "…",
//    "routes": [{"op": "all_reduce", "memory": "gpu", "ranks": 4, "dtype": "f32",
//                "max_bytes": 65536, "backend": "nccl", "why": "5.0 us; net 88.1 us"}, …]}
//
// A call takes the first route that fits it and whose backend is available and accepts it. Every
// field except "backend" is optional; a route without the others fits every call. Bytes are those
// that the member contributes, as in `Call`: count elements, times the ranks if it sends each rank
// different data. Further fields are "max_ranks": 4 (the largest group); "group": "all" (the group
// of all ranks of the job, in their order); and "captured": false (no call that a graph captures),
// or true. base/paths.h reads the part "paths". The defaults follow the last route: direct for
// small calls on GPU memory (see the README); nccl, then net for other GPU memory; for host memory
// threads in one process, and net between processes.

#ifndef COLL_RUNTIME_BACKEND_AUTO_ROUTES_H
#define COLL_RUNTIME_BACKEND_AUTO_ROUTES_H

#include "runtime/backend/backend.h"
#include "runtime/backend/demand.h"

#include <optional>
#include <string>
#include <vector>

namespace coll::rt {

// The properties of a call that choose a route; the same on all members.
struct RouteQuery {
  OpKind kind = OpKind::AllReduce;
  CollDtype dtype = kCollF32;
  int64_t bytes = 0;
  int ranks = 1; // of the group
  bool isGpu = false;
  bool isWorld = false;    // the group of all ranks, in their order
  bool isCaptured = false; // by a graph
};
RouteQuery queryOf(const Call &call, int ranks, bool isGpu);

struct Route {
  std::optional<OpKind> kind;
  std::optional<CollDtype> dtype;
  std::optional<int64_t> maxBytes;
  std::optional<int> ranks, maxRanks;
  std::optional<bool> isGpu, isWorld, isCaptured;
  std::string backend;
  std::string why;

  bool fits(const RouteQuery &query) const;
  // "all_reduce of f32, gpu memory, 4 ranks, up to 65536 bytes -> nccl (5.0 us; net 88.1 us)"
  std::string describe() const;
};

class Routes {
public:
  // kCollInvalidCall names file, line and column, or the entry that is wrong.
  static Result<Routes> load(const std::string &path);
  static Result<Routes> parse(const std::string &text, const std::string &name);
  // Reads the file that COLL_ROUTES names; only the defaults if it is unset.
  static Result<Routes> fromEnv();
  static Routes defaults();

  // All routes in order, the defaults last.
  const std::vector<Route> &all() const { return routes_; }
  // Why a backend of GPU memory is needed. If a route of the table takes all GPU memory, the
  // defaults are not used.
  Demand demandFor(const std::string &backend) const;
  // "the defaults", or the file and its own description.
  const std::string &origin() const { return origin_; }

private:
  std::vector<Route> routes_;
  size_t numOfTable_ = 0; // number of routes from the table, which come first
  std::string origin_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BACKEND_AUTO_ROUTES_H
