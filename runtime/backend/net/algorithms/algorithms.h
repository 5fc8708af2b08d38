// algorithms.h - the large collectives, as steps of a schedule. Each function adds one
// member's steps; all members call it with the same sizes.
//
// Data is dense: block j of `bytes` bytes begins j * bytes after the first. Members are positions
// in the group. `src` and `dst` may be equal only if the function says so.
//
//   direct    every pair exchanges its parts; sums run left to right, rounded once
//   ring      each member talks to two others; the sum of each block begins at another member
//   halving   log2(n) exchanges of halves (recursive halving, then doubling)
//   tree      binomial
//
// Recursive halving and doubling, with folding for other numbers than powers of two, as
// in R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication
// Operations in MPICH" (2005).

#ifndef COLL_RUNTIME_BACKEND_NET_ALGORITHMS_ALGORITHMS_H
#define COLL_RUNTIME_BACKEND_NET_ALGORITHMS_ALGORITHMS_H

#include "runtime/backend/net/algorithms/schedule.h"

#include <string>
#include <vector>

namespace coll::rt::network {

enum class Algorithm : uint8_t { Auto, Direct, Ring, Halving, Tree };
// "auto", "direct", …; nullopt for other names.
std::optional<Algorithm> parseAlgorithm(const std::string &name);

// The members, and how data is cut and combined.
struct Plan {
  Schedule &schedule;
  const std::vector<int> &ranks;
  int me; // position
  CollDtype dtype;
  CollReduction reduction;
  int64_t segmentBytes; // a multiple of 64

  int n() const { return static_cast<int>(ranks.size()); }
  // The member `distance` positions ahead, or behind.
  int after(int distance) const { return (me + distance) % n(); }
  int before(int distance) const { return (me + n() - distance) % n(); }
  int rank(int position) const { return ranks[static_cast<size_t>(position)]; }
};

// Part j of n of a buffer; parts begin at cache lines.
struct Part {
  int64_t offset, bytes;
};
Part partOf(int64_t bytes, int j, int n);

// src and dst may be equal in these.
Status addDirectAllReduce(const Plan &plan, const char *src, char *dst, int64_t bytes);
Status addRingAllReduce(const Plan &plan, const char *src, char *dst, int64_t bytes);
Status addHalvingAllReduce(const Plan &plan, const char *src, char *dst, int64_t bytes);
// Only the root uses `dst`.
Status addDirectReduce(const Plan &plan, int root, const char *src, char *dst, int64_t bytes);
Status addTreeReduce(const Plan &plan, int root, const char *src, char *dst, int64_t bytes);

// `src` holds n blocks, `dst` one.
Status addDirectReduceScatter(const Plan &plan, const char *src, char *dst, int64_t bytes);
Status addRingReduceScatter(const Plan &plan, const char *src, char *dst, int64_t bytes);

// `data` is the root's source, the others' destination.
void addTreeBroadcast(const Plan &plan, int root, char *data, int64_t bytes);
void addRingBroadcast(const Plan &plan, int root, char *data, int64_t bytes);

// dst holds n blocks; src is copied into its place.
void addDirectAllGather(const Plan &plan, const char *src, char *dst, int64_t bytes);
void addRingAllGather(const Plan &plan, const char *src, char *dst, int64_t bytes);
void addGather(const Plan &plan, int root, const char *src, char *dst, int64_t bytes);
void addScatter(const Plan &plan, int root, const char *src, char *dst, int64_t bytes);
void addAllToAll(const Plan &plan, const char *src, char *dst, int64_t bytes);
// source and target: positions, or -1.
void addPermute(const Plan &plan, int source, int target, const char *src, char *dst,
                int64_t bytes);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_ALGORITHMS_ALGORITHMS_H
