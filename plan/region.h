// region.h - rectangles of a tensor: their intersection, difference and union.

#ifndef COLL_PLAN_REGION_H
#define COLL_PLAN_REGION_H

#include <cstdint>
#include <vector>

namespace coll::plan {

// A rectangle of a global tensor, in elements. Empty where an extent is 0.
struct Region {
  std::vector<int64_t> begin, extent;
};

// Elements. A region of no dimensions has one.
int64_t volume(const Region &region);
// Both regions have the same number of dimensions. The result is empty where they share nothing.
Region intersect(const Region &a, const Region &b);
// Appends the parts of `whole` outside `hole`, which lies inside `whole`; at most two for each
// dimension.
void subtract(const Region &whole, const Region &hole, std::vector<Region> &parts);
// Joins two regions wherever they form a rectangle. The regions do not overlap.
void mergeRegions(std::vector<Region> &regions);

} // namespace coll::plan

#endif // COLL_PLAN_REGION_H
