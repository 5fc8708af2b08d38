//===- device_grid.h - one mesh for all shardings of a text -----------*- C++ -*-===//
//
// Meshes, parts of their axes and XLA's tiles all cut one list of devices into steps: `size` steps
// of `stride` devices. The grid collects where anything cuts, and its axes are the pieces between
// neighbouring cuts, so that every sharding is a list of whole axes:
//
//   @a ["x"=8], @b ["y"=2, "z"=4]        "y"=2, "z"=4; "x" is both
//   ["x"=8] and "x":(2)2                 "x:(1)2", "x:(2)2", "x:(4)2"
//   {devices=[2,4]<=[8]}                 "d0"=2, "d1"=4
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_DEVICE_GRID_H
#define COLL_PASSES_IMPORT_DEVICE_GRID_H

#include "passes/import/stablehlo_sharding_text.h"
#include "llvm/ADT/ArrayRef.h"

#include <set>
#include <vector>

namespace mlir::coll::stablehlo {

/// A factor of a dimension: `size` steps of `stride` devices.
struct Piece {
  int64_t size, stride;
};
using Pieces = SmallVector<Piece>; // major to minor

class DeviceGrid {
public:
  struct Axis {
    std::string name;
    int64_t size, stride;
  };

  /// If devices stand in an order that no grid has, they are counted as in the first such list.
  /// Every list has to be known before anything is cut.
  void addList(ArrayRef<int64_t> devices);

  /// The pieces of each of `tiles`, major to minor, where devices are counted through `grid`
  /// transposed by `order`, or as listed. Nullopt where no steps describe them.
  std::optional<SmallVector<Pieces>> cut(ArrayRef<int64_t> tiles, ArrayRef<int64_t> grid,
                                         ArrayRef<int64_t> order, ArrayRef<int64_t> devices) const;

  /// Adds the ends of `pieces`, which belong to the axis `name` if it is given.
  void add(ArrayRef<Piece> pieces, StringRef name = {});
  /// Makes axes from all that was added; false if there are cuts of which neither divides the
  /// other.
  bool finish(int64_t numDevices);

  ArrayRef<Axis> axes() const { return axes_; }
  /// The axes that make up `pieces`.
  SmallVector<std::string> axesOf(ArrayRef<Piece> pieces) const;

private:
  std::string nameOf(int64_t above, int64_t stride) const;

  struct Named {
    std::string name;
    Pieces pieces;
  };
  std::set<int64_t> cuts_;
  std::vector<Named> named_;
  std::vector<int64_t> position_; // per device; empty: its number
  std::vector<Axis> axes_;
};

/// The coordinates of `size` steps behind the first `before` of an axis of `pieces`; nullopt if
/// they divide nothing.
std::optional<Pieces> cutOut(ArrayRef<Piece> pieces, int64_t before, int64_t size);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_DEVICE_GRID_H
