// region.h - rectangles of a tensor: what they have in common, what is left of them.

#ifndef COLL_RUNTIME_EXCHANGE_REGION_H
#define COLL_RUNTIME_EXCHANGE_REGION_H

#include "runtime/exchange/reshard_plan.h"

namespace coll::rt::exchange {

// Elements. A region of no dimensions has one.
int64_t volume(const Region &region);
// Both have the same number of dimensions. Empty where they share nothing.
Region intersect(const Region &a, const Region &b);
// Appends the parts of `whole` outside `hole`, which lies inside it; at most two a dimension.
void subtract(const Region &whole, const Region &hole, std::vector<Region> &parts);
// Joins regions that do not overlap wherever two make a rectangle.
void mergeRegions(std::vector<Region> &regions);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_REGION_H
