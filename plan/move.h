// move.h - the steps that change the layout of a tensor.

#ifndef COLL_PLAN_MOVE_H
#define COLL_PLAN_MOVE_H

#include "plan/layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::plan {

enum class MoveKind {
  Slice,         // each rank keeps its block of a dimension; nothing is sent
  MakePartial,   // one rank of the group contributes its part, the others the neutral element
  AllGather,     // blocks of a dimension are joined
  AllToAll,      // blocks of one dimension are joined, another dimension is split
  Permute,       // each rank sends its part to one rank
  ReduceScatter, // contributions are combined, each rank gets a block of the result
  AllReduce,     // contributions are combined, each rank gets the result
  Route,         // each rank sends others just what they lack (route_move.h)
};
const char *nameOf(MoveKind kind); // "slice", "all_gather", ...

// A piece that one rank of a group gives another, or keeps.
struct RoutePiece {
  int64_t source = 0, target = 0; // positions in the group
  // Where it begins: in the source's block and in the target's, unless a RoutedSum says otherwise.
  std::vector<int64_t> sourceStart, targetStart;
};

// Pieces of one shape that are moved together: no rank is the source or the target of two of them.
struct RouteRound {
  std::vector<int64_t> extent;
  bool sends = false; // otherwise each rank moves a piece of its own
  std::vector<RoutePiece> pieces;
};

// Contributions to cells of one shape, which some ranks combine before they pass them on.
struct RoutedSum {
  std::vector<int64_t> extent;
  int64_t cells = 0; // that one rank combines at most
  // Contributions come in: a piece's targetStart is the number of the contribution, counted along
  // the axes over which the value is no longer partial, and the number of the cell among the
  // rank's. Results go out: a piece's sourceStart is the number of the cell.
  std::vector<RouteRound> in, out;
};

struct Move {
  MoveKind kind = MoveKind::Slice;
  // The groups: ranks that differ along these axes only, ordered by them, major to minor. The move
  // adds these axes as the minor axes of a dimension, or removes them from there. A permute and a
  // route place them anew.
  std::vector<int> axes;
  // Slice, ReduceScatter, AllToAll: the dimension that is split by `axes`; else -1.
  int split = -1;
  // AllGather, AllToAll: the dimension that is joined. MakePartial: the dimension whose blocks are
  // placed among neutral elements, or -1 if each rank has all of them. Else -1.
  int join = -1;
  // Permute: positions in the group, source and target alternating. Positions that keep their part
  // are listed, too.
  std::vector<int64_t> pairs;
  // Route: rounds if nothing is combined, else sums.
  std::vector<RouteRound> rounds;
  std::vector<RoutedSum> sums;
  Layout result;         // after the move
  int64_t wireBytes = 0; // sent by all ranks together
};

// The bytes that a move sends, given the bytes that each rank has before it.
struct MoveBytes {
  int64_t allRanks = 0; // together
  int64_t most = 0;     // by the rank that sends most
  int rounds = 0;       // messages that wait for one another
};
// Not for routes. `kept`: ranks of a group that keep their part in a permute.
MoveBytes bytesOf(MoveKind kind, int64_t groupSize, int64_t numRanks, int64_t localBytes,
                  int64_t kept);

// "all_gather dim 0 over [x]: 96 bytes"
std::string describe(const Mesh &mesh, const Move &move);

} // namespace coll::plan

#endif // COLL_PLAN_MOVE_H
