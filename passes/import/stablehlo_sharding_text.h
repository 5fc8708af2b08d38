//===- stablehlo_sharding_text.h - the texts of shardings -------------*- C++ -*-===//
//
// Shardy's attributes and XLA's `mhlo.sharding` arrive as text, since neither dialect is
// registered. These functions read the text and know nothing of meshes that stand elsewhere:
//
//   mesh<["x"=2, "y"=4], device_ids=[…]>
//   sharding<@mesh, [{"x", "y":(1)2}, {?}p1], replicated={"z"}, unreduced={"w"}>
//   {devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}       devices by their grid
//   {devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dims={replicated}}  devices by a list
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_SHARDING_TEXT_H
#define COLL_PASSES_IMPORT_STABLEHLO_SHARDING_TEXT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::coll::stablehlo {

inline constexpr int64_t kMaxDevices = int64_t{1} << 24;

/// An axis, or `size` of its coordinates behind the first `before`: "x":(before)size.
struct AxisText {
  std::string name;
  int64_t before = 1;
  int64_t size = 0; // 0: the whole axis
};

struct DimText {
  SmallVector<AxisText> axes; // major to minor
  bool isOpen = false;        // may be split further
};

struct MeshText {
  struct Axis {
    std::string name;
    int64_t size = 1;
  };
  SmallVector<Axis> axes;
  SmallVector<int64_t> devices; // empty: in order
  /// Why this is not a valid mesh, as words that follow its name; empty if it is valid.
  std::string problem;

  int64_t numDevices() const;
};

struct ShardyText {
  std::string mesh;                   // a symbol; empty if the mesh is written out
  std::optional<MeshText> inlineMesh; // else
  SmallVector<DimText> dims;
  SmallVector<AxisText> replicated, unreduced;
};

/// XLA's text for one tensor.
struct TilingText {
  enum class Kind { Tiled, Replicated, Maximal, Manual, Unknown };
  Kind kind = Kind::Unknown;
  SmallVector<int64_t> tiles; // those of the tensor, then groups of devices that hold the same
  size_t numGroups = 0;       // how many of the latter
  SmallVector<int64_t> grid, order; // devices are counted through the transposed grid
  SmallVector<int64_t> devices;     // or listed
  bool isGrouped = false;           // shard_as, shard_like

  int64_t numDevices() const;
};

/// Always returns a mesh; its `problem` says where the text is none.
MeshText readMesh(StringRef text);
/// `text` holds one sharding, or `sharding_per_value<[…]>`: that of value `index`.
std::optional<ShardyText> readShardy(StringRef text, unsigned index);
/// `text` holds one sharding, or a list of them in braces: that of value `index`.
std::optional<TilingText> readTiling(StringRef text, unsigned index);
/// `unspecified_dims=[0,2]` of a custom call; empty if there are none.
SmallVector<int64_t> readUnspecifiedDims(StringRef text);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_SHARDING_TEXT_H
