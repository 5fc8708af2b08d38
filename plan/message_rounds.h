// message_rounds.h - pieces that ranks give each other, in rounds of one message.

#ifndef COLL_PLAN_MESSAGE_ROUNDS_H
#define COLL_PLAN_MESSAGE_ROUNDS_H

#include "plan/move.h"

#include <cstdint>
#include <vector>

namespace coll::plan {

struct SizedPiece {
  std::vector<int64_t> extent;
  RoutePiece piece;
};

// As few rounds as there are pieces of one shape that one of the ranks sends or receives, and
// perhaps some more for pieces that stay where they are.
std::vector<RouteRound> roundsOf(int64_t ranks, const std::vector<SizedPiece> &pieces);

} // namespace coll::plan

#endif // COLL_PLAN_MESSAGE_ROUNDS_H
