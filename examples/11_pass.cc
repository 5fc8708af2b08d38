// A pass of your own, in coll-opt: it fixes the order in which the contributions of the ranks are
// added, so that results are equal to the last bit from run to run, whatever algorithm a backend
// chooses.
//
//   cmake -S examples/own -B own -DCMAKE_PREFIX_PATH=/opt/coll && cmake --build own
//   coll-opt step.mlir --load-pass-plugin=own/libfix_order.so --fix-order
//
// coll's operations are in no header that a plugin includes: it finds them, and their attributes,
// by the names that `coll-opt --mlir-print-op-generic` shows. The plugin needs the MLIR that
// coll-opt was built with.

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

namespace {

struct FixOrder : mlir::PassWrapper<FixOrder, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FixOrder)

  llvm::StringRef getArgument() const override { return "fix-order"; }
  llvm::StringRef getDescription() const override {
    return "adds the ranks' contributions in the order of the ranks";
  }

  void runOnOperation() override {
    mlir::Attribute byRank = mlir::parseAttribute("#coll<order rank>", &getContext());
    if (!byRank)
      return signalPassFailure(); // the parser has said why
    getOperation().walk([&](mlir::Operation *op) {
      llvm::StringRef name = op->getName().getStringRef();
      if (name != "coll.all_reduce" && name != "coll.reduce" && name != "coll.reduce_scatter")
        return;
      op->setAttr("order", byRank);
      op->emitRemark() << "this sum has a fixed order now";
    });
  }
};

} // namespace

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "fix-order", "1", [] { mlir::PassRegistration<FixOrder>(); }};
}
