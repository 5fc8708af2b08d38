#include "runtime/step/tokens/route.h"

#include "runtime/base/route_layout.h"

namespace coll::rt {

Status checkRouteShape(const RouteShape &shape) {
  if (shape.tokens < 0 || shape.tokens >= kMaxTokens || shape.capacity < 0 ||
      shape.capacity >= kMaxTokens)
    return Status::invalid(std::to_string(shape.tokens) + " tokens and a capacity of " +
                           std::to_string(shape.capacity) + " are not within 0 to " +
                           std::to_string(kMaxTokens - 1));
  if (shape.topk < 1 || shape.topk > kMaxTopk)
    return Status::invalid(std::to_string(shape.topk) + " experts for a token; there may be 1 to " +
                           std::to_string(kMaxTopk));
  return {};
}

int32_t *RouteWriter::sources() { return words_ + kRouteHeaderWords; }

int32_t *RouteWriter::targetsOf(int64_t token) {
  return words_ + kRouteHeaderWords + shape_.capacity + token * shape_.topk;
}

void RouteWriter::finish(const RouteOwner &owner) {
  words_[kRouteGroupSize] = owner.groupSize;
  words_[kRoutePosition] = owner.position;
  words_[kRouteSerial] = owner.serial;
  words_[kRouteTokens] = static_cast<int32_t>(shape_.tokens);
  words_[kRouteTopk] = shape_.topk;
  words_[kRouteCapacity] = static_cast<int32_t>(shape_.capacity);
  words_[kRouteUnused] = 0;
  words_[kRouteMagicWord] = kRouteMagic;
}

Result<RouteReader> RouteReader::open(const RouteShape &shape, const int32_t *words,
                                      int32_t groupSize, int32_t position) {
  if (words[kRouteMagicWord] != kRouteMagic || words[kRouteGroupSize] != groupSize ||
      words[kRoutePosition] != position || words[kRouteTokens] != shape.tokens ||
      words[kRouteTopk] != shape.topk || words[kRouteCapacity] != shape.capacity)
    return Status::invalid("the route is not of a dispatch like this over this group");
  RouteReader reader;
  reader.shape_ = shape;
  reader.serial_ = words[kRouteSerial];
  reader.sources_ = words + kRouteHeaderWords;
  reader.targets_ = reader.sources_ + shape.capacity;
  reader.rowsFrom_.assign(static_cast<size_t>(groupSize), 0);
  reader.rowsTo_.assign(static_cast<size_t>(groupSize), 0);
  COLL_RETURN_IF_ERROR(reader.count());
  return reader;
}

Status RouteReader::count() {
  const Status damaged = Status::invalid("the route is damaged");
  const auto groupSize = static_cast<int32_t>(rowsFrom_.size());
  int32_t previous = 0;
  for (int64_t row = 0; row < shape_.capacity && sources_[row] >= 0; ++row) {
    if (sources_[row] < previous || sources_[row] >= groupSize)
      return damaged;
    previous = sources_[row];
    ++rowsFrom_[static_cast<size_t>(previous)];
  }
  for (int64_t token = 0; token < shape_.tokens; ++token) {
    const int32_t *targets = targetsOf(token);
    for (int32_t k = 0; k < shape_.topk && targets[k] >= 0; ++k) {
      if (targets[k] >= groupSize || (k > 0 && targets[k] <= targets[k - 1]))
        return damaged;
      ++rowsTo_[static_cast<size_t>(targets[k])];
    }
  }
  return {};
}

} // namespace coll::rt
