//===- stablehlo_shardings.h - shardings that stand in the text -------*- C++ -*-===//
//
// JAX writes a step's shardings in one of two ways: Shardy's attributes, which name the
// axes of a mesh, and, before, XLA's text `{devices=[2,1,2]<=[4] …}`, which numbers
// devices; from all of those, the mesh is found whose axes they can be written in. What
// cannot be expressed (parts of an axis, permuted device lists, maximal or manual
// shardings) is left out with a remark: the result stays right.
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

  /// What `attrs` (of an argument, a result or an operation) says of a tensor of this
  /// rank; null where it says nothing, or nothing that can be expressed, with a remark at
  /// `loc`.
  ShardingAttr get(DictionaryAttr attrs, int64_t rank, Location loc);
  /// The mesh that the shardings returned so far are on; nothing if there was none.
  void createMesh(ModuleOp module) const;
  /// All that is not sharded.
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
