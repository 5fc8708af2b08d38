// route.h - the targets of a dispatch's tokens: the content of the memory of collRouteBytes.
//
// Its words are those of base/route_layout.h. Positions are those in the group. Any thread may call
// it; no memory is owned.

#ifndef COLL_RUNTIME_STEP_TOKENS_ROUTE_H
#define COLL_RUNTIME_STEP_TOKENS_ROUTE_H

#include "runtime/base/status.h"

#include <cstdint>
#include <vector>

namespace coll::rt {

inline constexpr int kMaxTopk = 32;
inline constexpr int64_t kMaxTokens = int64_t(1) << 30;

// The parameters of the memory's size; the same at the dispatch and at its combines.
struct RouteShape {
  int64_t tokens = 0;
  int32_t topk = 1;
  int64_t capacity = 0;
};
// 0 <= tokens, capacity < kMaxTokens, and topk from 1 to kMaxTopk.
Status checkRouteShape(const RouteShape &shape);

// The member and the group that the route belongs to, and the dispatch that made it.
struct RouteOwner {
  int32_t groupSize = 1;
  int32_t position = 0;
  int32_t serial = 0;
};

// A route that is being written. `words` have the size for `shape`, and have passed
// checkRouteShape; their content is undefined.
class RouteWriter {
public:
  RouteWriter(const RouteShape &shape, int32_t *words) : shape_(shape), words_(words) {}

  // The topk places for the token's targets.
  int32_t *targetsOf(int64_t token);
  // The capacity places for the sources of rows.
  int32_t *sources();
  // Completes the route; the last call.
  void finish(const RouteOwner &owner);

private:
  RouteShape shape_;
  int32_t *words_;
};

// A route that has been checked: no position in it reaches outside the group, sources ascend.
class RouteReader {
public:
  // `shape` has passed its check. kCollInvalidCall if the words are not a route of this shape for
  // this member of a group.
  static Result<RouteReader> open(const RouteShape &shape, const int32_t *words, int32_t groupSize,
                                  int32_t position);

  int32_t serial() const { return serial_; }
  // Rows from each position, and tokens to each position.
  const std::vector<int64_t> &rowsFrom() const { return rowsFrom_; }
  const std::vector<int64_t> &rowsTo() const { return rowsTo_; }
  // topk positions; unused ones are -1.
  const int32_t *targetsOf(int64_t token) const { return targets_ + token * shape_.topk; }

private:
  Status count();

  RouteShape shape_;
  const int32_t *sources_ = nullptr, *targets_ = nullptr;
  int32_t serial_ = 0;
  std::vector<int64_t> rowsFrom_, rowsTo_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_TOKENS_ROUTE_H
