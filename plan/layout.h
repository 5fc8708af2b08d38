// layout.h - meshes of ranks, and how a tensor is laid out over one.
//
// Ranks are numbered row-major over the axes of the mesh: the last axis varies fastest. A dimension
// that is split over axes, major to minor, has one block for each combination of their coordinates.
// All blocks have one extent; the last ones reach beyond the end of the dimension (padding) where
// the extents do not divide.

#ifndef COLL_PLAN_LAYOUT_H
#define COLL_PLAN_LAYOUT_H

#include "plan/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::plan {

// The product, or INT64_MAX if it does not fit. Both factors are at least 0.
inline int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// Whether a list of axes has one, and a list without those of another.
bool contains(const std::vector<int> &axes, int axis);
std::vector<int> without(const std::vector<int> &axes, const std::vector<int> &others);

struct Mesh {
  struct Axis {
    std::string name;
    int64_t size = 1;
  };
  static constexpr size_t kMostAxes = 64;
  std::vector<Axis> axes;

  int64_t numRanks() const;
  int64_t sizeOf(const std::vector<int> &axes) const; // the product of their sizes
  int64_t coordinate(int64_t rank, int axis) const;
};

// How one dimension is split. Axes are positions in the mesh.
struct Split {
  std::vector<int> axes; // major to minor; none: every rank has the whole dimension
  int64_t block = 0;     // elements of one rank, padding included

  bool operator==(const Split &other) const { return axes == other.axes && block == other.block; }
};

struct Layout {
  std::vector<Split> dims;
  // Each rank holds a contribution; combining them along these axes gives the value.
  std::vector<int> partial;

  bool operator==(const Layout &other) const {
    return dims == other.dims && partial == other.partial;
  }
  bool operator!=(const Layout &other) const { return !(*this == other); }
};

// The layout in which every rank has all of the tensor.
Layout replicated(const std::vector<int64_t> &shape);
// The split with equal blocks that are as small as possible.
Split splitOver(const Mesh &mesh, std::vector<int> axes, int64_t extent);

// The canonical form of all layouts that place elements alike: no axes of size 1, the block of a
// dimension that is not split is its extent, partial axes are in the order of the mesh.
Layout canonical(const Mesh &mesh, const std::vector<int64_t> &shape, const Layout &layout);

// An error if axes do not exist or occur twice, or if blocks do not cover their dimension. The
// result is the canonical form.
Result<Layout> checkLayout(const Mesh &mesh, const std::vector<int64_t> &shape,
                           const Layout &layout);

// Elements of one rank's part, padding included.
int64_t localElems(const Layout &layout);

// "[x,y],[] partial [z]"
std::string describe(const Mesh &mesh, const Layout &layout);

} // namespace coll::plan

#endif // COLL_PLAN_LAYOUT_H
