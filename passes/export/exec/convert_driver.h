//===- convert_driver.h - a driver function on buffers ----------------*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_EXEC_CONVERT_DRIVER_H
#define COLL_PASSES_EXPORT_EXEC_CONVERT_DRIVER_H

#include "dialect/attention.h"
#include "dialect/exec/convolution.h"
#include "dialect/exec/epilogue.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/export/exec/plan_buffers.h"

namespace mlir::coll {

/// Writes a driver function in kernel form as an exec.function of the same name, with the memory
/// that was planned for it: tensors become views, scf keeps its scalars only.
class DriverConverter {
public:
  /// `module` receives the functions; `precision` is that of their products.
  DriverConverter(ModuleOp module, const KernelTable &kernels, exec::Precision precision)
      : module_(module), kernels_(kernels), precision_(precision), b_(module.getContext()) {}

  LogicalResult convert(func::FuncOp source, const BufferPlan &plan);

private:
  // convert_driver.cc: the function, its memory, control flow.
  exec::FunctionOp makeFunction(func::FuncOp source);
  void makeViews();
  Value slotValue(const Slot &slot);
  Value view(unsigned content) const { return views_[content]; }
  Value view(Value tensor) const { return views_[plan_->contentOf.lookup(tensor)]; }
  SmallVector<Value> views(ValueRange tensors) const;
  SmallVector<Value> scalars(ValueRange values);
  void emitMoves(Operation *op);
  LogicalResult convertBlock(Block &from, Block *to);
  LogicalResult convertOp(Operation *op);
  LogicalResult convertFor(scf::ForOp op);
  LogicalResult convertWhile(scf::WhileOp op);
  LogicalResult convertIf(scf::IfOp op);

  // convert_driver_ops.cc: what the function does.
  LogicalResult convertCall(func::CallOp op);
  void convertExtract(Operation *op);
  void convertFromElements(Operation *op);
  void convertConstant(arith::ConstantOp op);
  exec::Precision getPrecision(Type factor, std::optional<StringRef> asked) const;
  StringAttr getProductPrecision(Type factor, std::optional<StringRef> asked);
  void convertGemm(GemmOp op);
  void convertFusedGemm(FusedGemmOp op);
  StringAttr getAttentionPrecision(Type element, std::optional<StringRef> asked);
  void convertConvolution(ConvolutionOp op);
  void convertAttention(AttentionOp op);
  void convertAttentionGradient(AttentionGradientOp op);
  void convertBlocking(Operation *op);
  void convertStart(StartOp op);
  void convertAwait(AwaitOp op);
  void fillRegion(Region &region, ArrayRef<Operation *> ops, ValueRange sources);

  ModuleOp module_;
  const KernelTable &kernels_;
  exec::Precision precision_;
  OpBuilder b_;
  Location loc_ = UnknownLoc::get(b_.getContext());
  const BufferPlan *plan_ = nullptr;
  exec::FunctionOp function_;
  SmallVector<Value> views_; // by content
  IRMapping values_;         // scalars and requests
};

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_EXEC_CONVERT_DRIVER_H
