//===- stablehlo_shardings.h - shardings that stand in the text -------*- C++ -*-===//
//
// JAX writes a step's shardings in one of two ways: Shardy's attributes, which name
// the axes of a mesh, and, in earlier versions, XLA's text `{devices=[2,1,2]<=[4] …}`,
// which numbers devices. From the latter, a mesh is derived whose axes can express all
// of them. Shardings that cannot be expressed (parts of an axis, permuted device lists,
// maximal or manual shardings) are left out with a remark: the result stays right.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_SHARDINGS_H
#define COLL_PASSES_IMPORT_STABLEHLO_SHARDINGS_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace mlir::coll::stablehlo {

class Shardings {
public:
  /// Looks at every annotation in the module; reports nothing.
  explicit Shardings(ModuleOp module);

  /// The sharding in `attrs` (of an argument, a result or an operation) for a tensor of this
  /// rank. Null if there is none, or none that can be expressed; then with a remark at
  /// `loc`.
  ShardingAttr get(DictionaryAttr attrs, int64_t rank, Location loc);
  /// Creates the mesh of the shardings that were returned so far, if there were any.
  void createMesh(ModuleOp module) const;
  /// The sharding of a tensor that is not split.
  ShardingAttr replicated(int64_t rank) const;
  bool isUsed() const { return static_cast<bool>(mesh_); }

private:
  struct Axis {
    std::string name;
    int64_t size;
  };
  using Axes = SmallVector<SmallVector<std::string>>;

  ShardingAttr fromShardy(StringRef text, int64_t rank, Location loc);
  ShardingAttr fromDevices(StringRef text, int64_t rank, Location loc);
  ShardingAttr make(StringRef mesh, const Axes &dims, Location loc);
  ShardingAttr ignore(Location loc, const Twine &reason) const;
  void readMesh(Operation *op);
  void readDevices(DictionaryAttr attrs);
  void decideDeviceAxes();

  MLIRContext *context_;
  std::map<std::string, SmallVector<Axis>> meshes_;
  /// Number of devices and the strides at which some sharding cuts their order.
  int64_t numDevices_ = 0;
  std::set<int64_t> cuts_;
  /// Stride of each axis of the mesh of devices, descending.
  SmallVector<int64_t> strides_;
  FlatSymbolRefAttr mesh_;
};

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_SHARDINGS_H
