// plan.h - the measurements of coll-perf OP, and how they are written on the command line.

#ifndef COLL_TOOLS_COLL_PERF_OP_PLAN_H
#define COLL_TOOLS_COLL_PERF_OP_PLAN_H

#include "runtime/backend/backend.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace coll::perf {

using rt::Result;
using rt::Status;

// How the operations follow each other.
enum class Timing {
  Eager,   // one after the other, as fast as the host calls them
  Graph,   // all in one CUDA graph
  Latency, // alone: the members meet before each, and wait for its end
};
const char *nameOf(Timing timing);

enum class Placement { Out, In };
inline const char *nameOf(Placement place) { return place == Placement::In ? "in" : "out"; }

enum class MemoryKind { Host, Gpu };
inline const char *nameOf(MemoryKind kind) { return kind == MemoryKind::Gpu ? "gpu" : "host"; }

// One operation over a sweep of sizes.
struct OpPlan {
  std::string op = "all_reduce"; // a kind's name, or send_recv
  int ranks = 4;
  uint64_t fromBytes = 8, toBytes = 4 << 20;
  double factor = 2; // to the next size; 0: `stepBytes` to it
  uint64_t stepBytes = 0;
  int warmup = 5, iterations = 20, repeat = 1;
  CollDtype dtype = kCollF32;
  CollReduction reduction = kCollSum;
  CollOrder order = kCollOrderAny;
  int root = 0;
  std::string optimizer = "adamw"; // of root_update
  double scale = 1;                // for sums: factor of each contribution
  std::vector<Placement> places = {Placement::Out};
  std::vector<Timing> timings = {Timing::Eager};
  bool check = true;
  int64_t timeoutUs = 60'000'000;

  std::vector<uint64_t> sizes() const;
  // Returns the size after this one.
  uint64_t next(uint64_t bytes) const;
};
// Returns the first error, which names the option.
Status check(const OpPlan &plan);
bool isOp(const std::string &name);
bool hasReduction(const std::string &op);
const std::vector<std::string> &opNames();

// Whether buffers are registered with the backend: no, the user's buffers are, or the backend
// allocates them.
enum class Registered { No, Users, Own };

// How one backend is run.
struct Side {
  std::string backend;    // as in createBackend
  bool processes = false; // one process for each rank; else threads of one
  MemoryKind memory = MemoryKind::Host;
  Registered registered = Registered::No;
  bool sharded = false; // nccl's root_update: reduce_scatter, a part of the step, all_gather
  std::string label;    // in tables and rows
};
// Parses "threads", "net", "net:gpu", "nccl:threads", "direct:registered": a backend's name, with
// the differences from its default way to run.
Result<Side> parseSide(const std::string &text);

// One size, and one way to measure it.
struct Task {
  uint64_t bytes = 0; // as requested; the data has a whole number of elements
  Placement place = Placement::Out;
  Timing timing = Timing::Eager;
};

// The `count` of a call whose larger buffer has so many bytes, as nccl-tests counts (all_gather:
// all that is gathered; reduce_scatter: all that is scattered).
int64_t countOf(const OpPlan &plan, uint64_t bytes);
uint64_t bytesOf(const OpPlan &plan, int64_t count);
// Bus bandwidth divided by algorithm bandwidth, as nccl-tests defines them.
double busFactor(const OpPlan &plan);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_OP_PLAN_H
