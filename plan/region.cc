#include "plan/region.h"

#include <algorithm>

namespace coll::plan {

int64_t volume(const Region &region) {
  int64_t product = 1;
  for (int64_t extent : region.extent)
    product *= extent;
  return product;
}

Region intersect(const Region &a, const Region &b) {
  Region common = a;
  for (size_t d = 0; d < a.begin.size(); ++d) {
    const int64_t begin = std::max(a.begin[d], b.begin[d]);
    const int64_t end = std::min(a.begin[d] + a.extent[d], b.begin[d] + b.extent[d]);
    common.begin[d] = begin;
    common.extent[d] = std::max<int64_t>(0, end - begin);
  }
  return common;
}

void subtract(const Region &whole, const Region &hole, std::vector<Region> &parts) {
  Region rest = whole;
  for (size_t d = 0; d < whole.begin.size(); ++d) {
    const int64_t end = rest.begin[d] + rest.extent[d];
    const int64_t holeEnd = hole.begin[d] + hole.extent[d];
    Region part = rest;
    if (hole.begin[d] > rest.begin[d]) {
      part.extent[d] = hole.begin[d] - rest.begin[d];
      parts.push_back(part);
    }
    if (holeEnd < end) {
      part.begin[d] = holeEnd;
      part.extent[d] = end - holeEnd;
      parts.push_back(part);
    }
    rest.begin[d] = hole.begin[d];
    rest.extent[d] = hole.extent[d];
  }
}

namespace {

// Joins b to a if they are equal in all dimensions but one, and adjacent in that one.
bool join(Region &a, const Region &b) {
  size_t dim = a.begin.size();
  for (size_t d = 0; d < a.begin.size(); ++d) {
    if (a.begin[d] == b.begin[d] && a.extent[d] == b.extent[d])
      continue;
    if (dim != a.begin.size())
      return false;
    dim = d;
  }
  if (dim == a.begin.size())
    return false;
  if (a.begin[dim] + a.extent[dim] == b.begin[dim]) {
    a.extent[dim] += b.extent[dim];
    return true;
  }
  if (b.begin[dim] + b.extent[dim] == a.begin[dim]) {
    a.begin[dim] = b.begin[dim];
    a.extent[dim] += b.extent[dim];
    return true;
  }
  return false;
}

} // namespace

void mergeRegions(std::vector<Region> &regions) {
  for (size_t i = 0; i < regions.size();) {
    bool joined = false;
    for (size_t j = i + 1; j < regions.size() && !joined; ++j)
      if (join(regions[i], regions[j])) {
        regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(j));
        joined = true;
      }
    // The grown region may now be adjacent to an earlier one.
    i = joined ? 0 : i + 1;
  }
}

} // namespace coll::plan
