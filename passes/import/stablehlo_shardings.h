//===- stablehlo_shardings.h - shardings in the text of a step --------*- C++ -*-===//
//
// JAX writes a step's shardings in one of two ways: Shardy's attributes, which name the axes of
// meshes, and XLA's text `{devices=[2,1,2]<=[4] …}`, which numbers devices. One mesh is derived
// whose axes express all of them (device_grid.h). A sharding that names an unknown axis, or cuts
// the devices in a way that does not fit the others, is an error at its place.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_SHARDINGS_H
#define COLL_PASSES_IMPORT_STABLEHLO_SHARDINGS_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/import/device_grid.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace mlir::coll::stablehlo {

/// The sharding that a text gives to one tensor.
struct WrittenSharding {
  ShardingAttr sharding; // null: nothing
  /// Dimensions that may be split further, by other axes than `replicated`.
  SmallVector<int64_t> openDims;
  SmallVector<StringAttr> replicated;
};

class Shardings {
public:
  /// Looks at every annotation in the module; reports nothing.
  explicit Shardings(ModuleOp module);

  /// The sharding in `attrs` (of an argument, a result or an operation) for value `index` of those
  /// that they describe, a tensor of this rank. Fails with an error at `loc`.
  FailureOr<WrittenSharding> get(DictionaryAttr attrs, int64_t rank, Location loc,
                                 unsigned index = 0);
  /// Creates the mesh of the shardings that were returned so far, if there were any.
  void createMesh(ModuleOp module) const;
  /// The sharding of a tensor that is not split.
  ShardingAttr replicated(int64_t rank) const;
  bool isUsed() const { return isUsed_; }

private:
  struct KnownMesh {
    MeshText text;
    std::optional<Location> loc;        // none if a sharding writes the mesh out
    std::map<std::string, Pieces> axes; // filled in by decideAxes
  };
  using Result = FailureOr<WrittenSharding>;

  void readShardings(Attribute shardy, Attribute devices, unsigned numValues);
  void note(const ShardyText &text);
  void note(const TilingText &text);
  void noteDevices(int64_t count, ArrayRef<int64_t> list);
  bool cutMesh(KnownMesh &mesh);
  void decideAxes();
  KnownMesh *find(const ShardyText &text);
  std::optional<Pieces> piecesOf(const KnownMesh &mesh, const AxisText &axis) const;
  std::optional<SmallVector<Pieces>> piecesOf(const TilingText &text) const;

  Result fromShardy(StringRef text, int64_t rank, Location loc, unsigned index);
  Result fromDevices(StringRef text, int64_t rank, Location loc, unsigned index);
  FailureOr<SmallVector<StringAttr>> axesOf(const KnownMesh &mesh, ArrayRef<AxisText> axes,
                                            llvm::StringSet<> &used, Location loc);
  LogicalResult checkGrid(Location loc) const;
  ShardingAttr make(ArrayRef<SmallVector<StringAttr>> dims);

  MLIRContext *context_;
  std::map<std::string, KnownMesh> meshes_;
  std::string firstMesh_; // name of the first that a sharding is on; that of the step's mesh
  llvm::StringSet<> seen_;
  std::vector<ShardyText> shardy_;
  std::vector<TilingText> tilings_;
  int64_t numDevices_ = 0;
  std::string conflict_; // why no mesh expresses all shardings
  DeviceGrid grid_;
  /// Axes of the mesh with their sizes, those of size 1 among them.
  std::vector<MeshText::Axis> axes_;
  bool isUsed_ = false;
};

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_SHARDINGS_H
